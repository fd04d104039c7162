import { sql } from 'kysely';
import { NIL_ID } from '../platform/db/ids/index.ts';
import type { Db } from '../platform/db/index.ts';
// Stored in the `setting` table, since it is one value per installation.
import '../tenancy/index.ts';

const NAME = 'reconciliation.last-report';

/** The result of the last comparison of ledger and chains, by any process. */
export interface LastReport {
  at_ms: number;
  differences: number;
  unseen: number;
  /** Absent in older reports. */
  surpluses?: number;
}

export async function saveReport(db: Db, report: LastReport): Promise<void> {
  await sql`
    insert into setting (merchant_id, name, value)
    values (${NIL_ID}, ${NAME}, ${JSON.stringify(report)}::jsonb)
    on conflict (merchant_id, name) do update set value = excluded.value`.execute(db);
}

/** @returns undefined before the first comparison */
export async function findLastReport(db: Db): Promise<LastReport | undefined> {
  const row = await db
    .selectFrom('setting')
    .select('value')
    .where('merchant_id', '=', NIL_ID)
    .where('name', '=', NAME)
    .executeTakeFirst();
  return row?.value as LastReport | undefined;
}
