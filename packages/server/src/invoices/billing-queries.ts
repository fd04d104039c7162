import { type Insertable, sql } from 'kysely';
import type { Db, Tables, Tx } from '../platform/db.ts';
import { changingColumns } from './facts.ts';
import type { InvoiceRow } from './queries.ts';
import type { InvoiceFacts } from './states.ts';

/** The open ones of a subscription, oldest first. The caller has the subscription's lock. */
export async function lockOpenInvoices(
  tx: Tx,
  merchantId: string,
  subscriptionId: string,
): Promise<InvoiceRow[]> {
  return await tx
    .selectFrom('invoice')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('subscription_id', '=', subscriptionId)
    .where('status', '=', 'open')
    .orderBy('created_at')
    .orderBy('invoice_id')
    .forUpdate()
    .execute();
}

/** @throws what the database says of a second invoice for a period */
export async function insertInvoice(tx: Tx, row: Insertable<Tables['invoice']>): Promise<InvoiceRow> {
  return await tx.insertInto('invoice').values(row).returningAll().executeTakeFirstOrThrow();
}

/** What a decision and what followed from it have made of an open invoice. */
export async function updateInvoice(
  tx: Tx,
  merchantId: string,
  facts: InvoiceFacts,
  payments: Partial<Pick<InvoiceRow, 'session_id' | 'page_payment_id' | 'charge_payment_id'>>,
): Promise<InvoiceRow> {
  return await tx
    .updateTable('invoice')
    .set({ ...changingColumns(facts), ...payments })
    .where('merchant_id', '=', merchantId)
    .where('invoice_id', '=', facts.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** What charges of a mandate that are on their way or have paid take of one window of its cap. */
export async function capUsed(
  db: Db,
  merchantId: string,
  window: { subscriptionId: string; methodId: string; start: number },
): Promise<bigint> {
  const { rows } = await sql<{ used: bigint }>`
    select coalesce(sum(charge_amount), 0)::bigint as used from invoice
    where merchant_id = ${merchantId} and subscription_id = ${window.subscriptionId}
      and charge_method_id = ${window.methodId} and charge_window_start = ${window.start}`.execute(db);
  return rows[0]?.used ?? 0n;
}

/** The open ones of these subscriptions, oldest first. */
export async function listOpenInvoices(
  db: Db,
  merchantId: string,
  subscriptionIds: readonly string[],
): Promise<InvoiceRow[]> {
  return await db
    .selectFrom('invoice')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('subscription_id', '=', sql<string>`any(${subscriptionIds}::uuid[])`)
    .where('status', '=', 'open')
    .orderBy('created_at')
    .orderBy('invoice_id')
    .execute();
}
