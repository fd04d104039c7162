import type { Network } from '@florin/contract/money';
import { createDatabase } from '../../../../../test/database.ts';
import { connect } from '../../platform/db.ts';
import { newId } from '../../platform/ids.ts';
import { migrateSimulatedChain } from './migrate.ts';
import { openSimulatedChain, type SimulatedChain } from './simulated-chain.ts';

export interface TestChain {
  chain: SimulatedChain;
  /** The merchant's clock, Unix seconds: a test moves it, nothing waits. */
  time: { now: number };
  merchantId: string;
  /** Another process's view of the same chain, with a pool of its own. */
  openTwin(): SimulatedChain;
  close(): Promise<void>;
}

export const TEST_START = 1_770_000_000;

/** A simulated chain in a database of its own. */
export async function openTestChain(network: Network): Promise<TestChain> {
  const database = await createDatabase();
  await migrateSimulatedChain(database.url);
  const time = { now: TEST_START };
  const merchantId = newId();
  const pools = [connect({ url: database.url, poolSize: 4 })];
  const open = (db = pools[0]): SimulatedChain => {
    if (db === undefined) throw new Error('the test chain is closed');
    return openSimulatedChain({ db, merchantId, network, now: () => time.now });
  };
  return {
    chain: open(),
    time,
    merchantId,
    openTwin: () => {
      const pool = connect({ url: database.url, poolSize: 4 });
      pools.push(pool);
      return open(pool);
    },
    close: async () => {
      await Promise.all(pools.map((pool) => pool.destroy()));
      await database.drop();
    },
  };
}
