import pg from 'pg';
import { expect } from 'vitest';
import { verifyLedger } from '../packages/server/src/reconciliation/verify-ledger.ts';
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
 */
export async function expectLedgerWhole(service: Pick<TestService, 'app'>): Promise<void> {
  for (const [check, text] of Object.entries(LEDGER_CHECKS)) {
    expect([check, await asOwner(service, text)]).toEqual([check, []]);
  }
  const { differences, surpluses, unseen } = await verifyLedger(service.app, () => {});
  expect({ differences, surpluses, unseen }).toEqual({ differences: [], surpluses: [], unseen: [] });
}
