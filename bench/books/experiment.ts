import { randomBytes } from 'node:crypto';
import { migrateAll, openApp } from '../../packages/server/src/app.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import { startChild } from '../child.ts';
import { type BenchServer, execute } from '../database.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, short } from '../statistics.ts';
import { ENTRIES_PER_UNIT, fillBooks } from './fill.ts';
import type { Verified } from './verify.ts';

const SMALL = 10_000;

interface Books {
  databaseUrl: string;
  masterKey: string;
  entries: number;
}

/** Row 15: how long the books are verified, and that the memory which that takes does not grow with them. */
export async function runBooks(server: BenchServer, options: RunOptions): Promise<Findings> {
  const entries = options.quick ? 100_000 : 1_000_000;
  const small = await makeBooks(server, SMALL);
  options.log(`  writing ${entries.toLocaleString('en-US')} entries`);
  const big = await makeBooks(server, entries);
  const megabytes = { small: [] as number[], big: [] as number[] };
  const setting = (name: 'small' | 'big', books: Books) => ({
    name,
    run: async () => {
      const verified = await verify(books, options);
      megabytes[name].push(verified.megabytes);
      return verified.seconds;
    },
  });
  const took = await interleave([setting('small', small), setting('big', big)], options);
  const grown = megabytes.big.map((peak, i) => Math.max(0, peak - (megabytes.small[i] ?? 0)));
  const note = `${big.entries.toLocaleString('en-US')} entries`;
  return {
    results: [
      { row: '15a', values: took.big ?? [], note },
      { row: '15b', values: grown, note, raw: { 'small, MB': megabytes.small, 'big, MB': megabytes.big } },
    ],
    remarks: [
      `Books of one merchant: ${small.entries.toLocaleString('en-US')} entries are verified in ` +
        `${short(median(took.small ?? []))} s with ${short(median(megabytes.small))} MB, ` +
        `${big.entries.toLocaleString('en-US')} in ${short(median(took.big ?? []))} s with ` +
        `${short(median(megabytes.big))} MB, both beside 1,000 watched addresses.`,
    ],
  };
}

async function makeBooks(server: BenchServer, entries: number): Promise<Books> {
  const databaseUrl = await server.createDatabase();
  const masterKey = randomBytes(32);
  await migrateAll(databaseUrl, undefined);
  const app = await openApp({ databaseUrl, masterKey, log: createLogger('silent'), poolSize: 2 });
  try {
    const { merchantId } = await stores.createMerchant(app, { name: 'Bench', mode: 'sandbox' });
    const chain = app.chains.sandbox(merchantId, 'erc20');
    await chain.mine(10);
    const place = { merchantId, wallet: await chain.hotAddress() };
    await fillBooks(databaseUrl, place, Math.ceil(entries / ENTRIES_PER_UNIT));
  } finally {
    await app.close();
  }
  const [counted] = await execute(databaseUrl, 'select count(*)::int as n from ledger_entry');
  return { databaseUrl, masterKey: masterKey.toString('hex'), entries: counted?.rows[0]?.n ?? 0 };
}

async function verify({ databaseUrl, masterKey }: Books, { profileDir }: RunOptions): Promise<Verified> {
  const child = startChild('books/verify.ts', { argument: { databaseUrl, masterKey }, profileDir });
  try {
    return await child.next<Verified>();
  } finally {
    await child.stop();
  }
}
