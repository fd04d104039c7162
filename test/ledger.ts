import pg from 'pg';
import { expect } from 'vitest';
import { verifyMerchants } from '../packages/server/src/reconciliation/verify-ledger.ts';
import { listMerchants } from '../packages/server/src/stores/index.ts';
import { LEDGER_CHECKS } from './ledger-checks.ts';
import type { TestService } from './service.ts';

/** Runs one statement as the owner of the database, who may do what the service may not. */
export async function asOwner<Row extends pg.QueryResultRow>(
  service: Pick<TestService, 'app'>,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: service.app.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/**
 * H1, I1, I2: entries, balances, batches and chains agree, once by the product's own check and once by statements that
 * share nothing with it.
 *
 * The product's check asks the chains merchant by merchant, so it looks at those alone of which anything changed since it looked last:
 * each test has a merchant of its own, and a file of twenty tests would compare two hundred.
 */
export async function expectLedgerWhole(service: Pick<TestService, 'app'>): Promise<void> {
  const { app } = service;
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    for (const [check, text] of Object.entries(LEDGER_CHECKS)) {
      expect([check, (await client.query(text)).rows]).toEqual([check, []]);
    }
    const changed = await listChanged(client, app);
    const merchants = (await listMerchants(app.db)).filter(({ merchantId }) => changed.has(merchantId));
    const { differences, surpluses, unseen } = await verifyMerchants(app, merchants, () => {});
    expect({ differences, surpluses, unseen }).toEqual({ differences: [], surpluses: [], unseen: [] });
  } finally {
    await client.end();
  }
}

/** Where money and what is said of it stands, with the merchant of each row. */
const WRITTEN = [
  'invoice',
  'ledger_account',
  'ledger_entry',
  'payment',
  'payment_option',
  'payment_transaction',
  'payout_batch',
  'payout_item',
  'refund',
  'refund_quota',
  'sweep_part',
  'transfer',
  'transfer_attempt',
  'simchain.account',
  'simchain.transfer',
];
const WRITTEN_SINCE = WRITTEN.map(
  (table) => `select merchant_id from ${table} where xmin::text::bigint >= $1`,
).join(' union ');

/** The transaction from which on nothing is verified yet, by database. */
const verifiedUpTo = new Map<string, string>();

/** The merchants of rows that were written since the last call. */
async function listChanged(client: pg.Client, app: TestService['app']): Promise<ReadonlySet<string>> {
  // Before the rows are read: what is written meanwhile is looked at again.
  const { rows: now } = await client.query('select pg_snapshot_xmin(pg_current_snapshot())::text as xid');
  const { rows } = await client.query(WRITTEN_SINCE, [verifiedUpTo.get(app.databaseUrl) ?? '0']);
  verifiedUpTo.set(app.databaseUrl, now[0].xid);
  return new Set(rows.map(({ merchant_id }) => merchant_id));
}
