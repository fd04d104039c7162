import type { Network } from '@florin/contract/money';
import type { SignedTx } from '../../packages/server/src/chains/port/port.ts';
import { SimulatedHolder } from '../../packages/server/src/chains/simulated/holder.ts';
import { migrateSimulatedChain } from '../../packages/server/src/chains/simulated/migrate.ts';
import {
  openSimulatedChain,
  type SimulatedChain,
} from '../../packages/server/src/chains/simulated/simulated-chain.ts';
import { walletOfLabel } from '../../packages/server/src/chains/simulated/wallet.ts';
import { connect, type Db } from '../../packages/server/src/platform/db/db.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { createDatabase } from '../database.ts';
import { nextSigning } from './next-signing.ts';

export interface TestChain {
  chain: SimulatedChain;
  /** Of the merchant's keys. */
  holder: SimulatedHolder;
  /** The merchant's clock, Unix seconds: a test moves it, nothing waits. */
  time: { now: number };
  recipient: (number: number) => string;
  /** A transaction of the hot wallet; by default one item of one USDT with sequence 0. */
  build: (order?: TestOrder) => Promise<SignedTx>;
  /** Built and broadcast. */
  send: (order?: TestOrder) => Promise<SignedTx>;
  /** The same network of another merchant, with a clock of its own. */
  openSibling: () => TestChain;
  /** Another process's view of the same chain, with a pool of its own. */
  openTwin: () => SimulatedChain;
  /** A process that was paused after it read the clock: it uses the time of so many seconds ago. */
  openLate: (seconds: number) => SimulatedChain;
  /** The same chain in another database. */
  openAt: (url: string) => SimulatedChain;
  close: () => Promise<void>;
}

export interface TestOrder {
  itemIds?: string[];
  to?: string;
  amount?: bigint;
  sequence?: number;
  replaces?: SignedTx;
}

const TEST_START = 1_770_000_000;

/** A simulated chain in a database of its own. */
export async function openTestChain(network: Network): Promise<TestChain> {
  const database = await createDatabase();
  await migrateSimulatedChain(database.url);
  const pools: Db[] = [];
  const openPool = (url: string): Db => {
    const pool = connect({ url, poolSize: 4 });
    pools.push(pool);
    return pool;
  };
  const shared = openPool(database.url);
  const close = async (): Promise<void> => {
    await Promise.all(pools.map((pool) => pool.destroy()));
    await database.drop();
  };
  const openSibling = (): TestChain => {
    const time = { now: TEST_START };
    const merchantId = newId();
    const openOn = (db: Db, secondsLate = 0) =>
      openSimulatedChain({ db, merchantId, network, now: () => time.now - secondsLate });
    const chain = openOn(shared);
    const recipient = (number: number) => walletOfLabel(network, `recipient ${number}`).address;
    const build = (order: TestOrder = {}): Promise<SignedTx> =>
      buildOrder(chain, { to: recipient(1), ...order });
    const send = async (order?: TestOrder): Promise<SignedTx> => {
      const tx = await build(order);
      const { result } = await chain.broadcast(tx);
      if (result !== 'accepted') throw new Error(`broadcast answered ${result}`);
      return tx;
    };
    return {
      chain,
      holder: new SimulatedHolder(shared, merchantId),
      time,
      recipient,
      build,
      send,
      openSibling,
      openTwin: () => openOn(openPool(database.url)),
      openLate: (seconds) => openOn(shared, seconds),
      openAt: (url) => openOn(openPool(url)),
      close,
    };
  };
  return openSibling();
}

const places = new Map<string, number>();

/** The same place for the same item, as its batch has. */
function placeOf(itemId: string): number {
  const place = places.get(itemId) ?? places.size;
  places.set(itemId, place);
  return place;
}

function buildOrder(chain: SimulatedChain, order: TestOrder & { to: string }): Promise<SignedTx> {
  const { itemIds = ['item'], amount = 1_000_000n, sequence = 0, replaces, to } = order;
  return chain.buildTransfer({
    signing: nextSigning(),
    keyRef: 'hot',
    asset: 'USDT',
    groupId: 'batch',
    items: itemIds.map((itemId) => ({ itemId, place: placeOf(itemId), to, amount })),
    sequence: String(sequence),
    ...(replaces === undefined ? {} : { replaces }),
  });
}
