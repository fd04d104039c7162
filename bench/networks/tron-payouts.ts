import { KEYS } from '../../test/chains/tron/key-signer.ts';
import { TronStore } from '../../test/live/tron-store.ts';
import { TRX } from '../../test/nodes/tron-client.ts';
import type { BenchServer } from '../database.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { credit } from './batch.ts';
import { payBatch } from './payouts.ts';

const ITEMS = 200;
const BLOCK_MS = 3_000;
const UNITS = 10n ** 12n;

/** Rows 23c and 23d: each payout is a transaction of its own there. */
export async function measureTronPayouts(server: BenchServer, options: RunOptions): Promise<Findings> {
  const store = await TronStore.start({
    databaseUrl: await server.createDatabase(),
    tank: 10_000 * TRX,
    isTest: false,
  });
  try {
    const { local, network, asset } = store;
    const { chain, endpoint } = local.node;
    const hot = KEYS.hot(1).address;
    local.node.fund(hot, 100_000 * TRX);
    await local.give(asset, hot, UNITS);
    await local.mine(10);
    await credit(store, network, asset);
    const place = {
      store,
      calls: endpoint.faults.calls,
      broadcast: 'wallet/broadcasthex',
      shared: ['wallet/getblock', 'walletsolidity/getblock', 'wallet/getchainparameters'],
      countTaken: () => chain.included.size + chain.pool.size,
      blockMs: BLOCK_MS,
    };
    const others: number[] = [];
    const run = async () => {
      const from = others.length * ITEMS;
      const recipients = Array.from({ length: ITEMS }, (_, i) => local.wallet(`recipient ${from + i}`));
      const { seconds, otherCalls, transactions } = await payBatch(place, recipients);
      if (transactions !== ITEMS) throw new Error(`${transactions} transactions for ${ITEMS} payouts`);
      others.push(otherCalls);
      return seconds;
    };
    const { 'Tron, seconds': seconds = [] } = await interleave([{ name: 'Tron, seconds', run }], options);
    return {
      results: [
        { row: '23c', values: seconds },
        { row: '23d', values: others },
      ],
      remarks: [
        'Of 23d, what a process reads for all is not counted: the newest blocks of each view each 3 s, and prices once a minute. One trial stands ' +
          'for all payouts of a wallet that are signed within ten seconds.',
      ],
    };
  } finally {
    await store.stop();
  }
}
