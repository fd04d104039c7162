import { sql } from 'kysely';
import type { Db } from '../platform/db/index.ts';
import { NIL_ID } from '../platform/db/index.ts';
// Kept where the installation's settings lie, as it is one value of the installation too.
import '../tenancy/index.ts';

const NAME = 'reconciliation.last-report';

/** What the last comparison of ledger and chains found, whichever process made it. */
export interface LastReport {
  at_ms: number;
  differences: number;
  unseen: number;
  /** Absent in a report of before these were counted. */
  surpluses?: number;
}

export async function rememberReport(db: Db, report: LastReport): Promise<void> {
  await sql`
    insert into setting (merchant_id, name, value)
    values (${NIL_ID}, ${NAME}, ${JSON.stringify(report)}::jsonb)
    on conflict (merchant_id, name) do update set value = excluded.value`.execute(db);
}

/** Undefined where nothing was compared yet. */
export async function findLastReport(db: Db): Promise<LastReport | undefined> {
  const row = await db
    .selectFrom('setting')
    .select('value')
    .where('merchant_id', '=', NIL_ID)
    .where('name', '=', NAME)
    .executeTakeFirst();
  return row?.value as LastReport | undefined;
}
