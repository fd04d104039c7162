import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { KEYS } from '../../test/chains/solana/key-signer.ts';
import { SolanaStore } from '../../test/live/solana-store.ts';
import type { BenchServer } from '../database.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { credit } from './batch.ts';
import { payBatch } from './payouts.ts';

const ITEMS = 200;
const SLOT_MS = 400;
const UNITS = 10n ** 12n;

/** Rows 23a and 23b: a batch to 200 wallets that have no account of the token. */
export async function measureSolanaPayouts(server: BenchServer, options: RunOptions): Promise<Findings> {
  const store = await SolanaStore.start({ databaseUrl: await server.createDatabase() });
  try {
    const { local, network, asset } = store;
    const { chain, endpoint } = local.node;
    await local.give(asset, KEYS.hot(1).address, UNITS);
    local.mine(10);
    await credit(store, network, asset);
    // Of all rounds: in a day no merchant opens accounts for more than 200 by default.
    await settingCommands(store.service.app).set('transfers.opening_ceiling', '10');
    const place = {
      store,
      calls: endpoint.faults.calls,
      broadcast: 'sendTransaction',
      shared: [],
      countTaken: () => chain.transactions.size + chain.pool.size,
      blockMs: SLOT_MS,
    };
    const transactions: number[] = [];
    const others: number[] = [];
    const run = async () => {
      const from = transactions.length * ITEMS;
      const recipients = Array.from({ length: ITEMS }, (_, i) => local.wallet(`recipient ${from + i}`));
      const sending = await payBatch(place, recipients);
      transactions.push(sending.transactions);
      others.push(sending.otherCalls);
      return sending.seconds;
    };
    const { 'Solana, seconds': seconds = [] } = await interleave([{ name: 'Solana, seconds', run }], options);
    return {
      results: [
        { row: '23a', values: transactions },
        { row: '23b', values: seconds, raw: { 'calls beside broadcasts': others } },
      ],
      remarks: [
        'Of 23b, API, worker, signer with its journal on disk and the node, which runs each transaction before it takes it, are one process.',
      ],
    };
  } finally {
    await store.stop();
  }
}
