import { openApp } from '../../packages/server/src/app.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { argument, say } from '../child.ts';

const KILOBYTES_PER_MEGABYTE = 1024;
const STATEMENT_MS = 600_000;

/** What one `florin ledger verify` took. */
export interface Verified {
  seconds: number;
  /** The most memory that the process ever had. */
  megabytes: number;
}

const { databaseUrl, masterKey } = argument<{ databaseUrl: string; masterKey: string }>();
const app = await openApp({
  databaseUrl,
  masterKey: Buffer.from(masterKey, 'hex'),
  log: createLogger('silent'),
  poolSize: 4,
  statementMs: STATEMENT_MS,
});
const startMs = performance.now();
const { differences, unseen } = await verifyLedger(app, () => {});
const seconds = (performance.now() - startMs) / 1_000;
// A fast look counts only if the books are whole.
if (differences.length + unseen.length > 0)
  throw new Error(`the books differ: ${differences[0]?.what ?? unseen[0]}`);
say({
  seconds,
  megabytes: process.resourceUsage().maxRSS / KILOBYTES_PER_MEGABYTE,
} satisfies Verified);
await app.close();
