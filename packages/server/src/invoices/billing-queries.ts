import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { insertRows, kept, many, updateRows } from '../platform/db/index.ts';
import { INVOICE } from './columns.ts';
import { changingColumns } from './facts.ts';
import type { InvoiceRow } from './queries.ts';
import type { InvoiceFacts } from './states.ts';

/** Locks the open invoices of a subscription, oldest first. The caller has locked the subscription before. */
export const openInvoicesLock = (
  merchantId: string,
  subscriptionId: string,
) => sql<InvoiceRow>`${many('subscription_id')}
  select ${INVOICE.list} from invoice
  where merchant_id = ${merchantId} and subscription_id = any(${[subscriptionId]}::uuid[]) and status = 'open'
  order by created_at, invoice_id
  for update`;

/** The paid invoices of a period, newest first. They change only under their subscription's lock, which the caller holds. */
export async function listCovering(
  tx: Tx,
  {
    merchantId,
    subscriptionId,
    periodEnd,
  }: { merchantId: string; subscriptionId: string; periodEnd: bigint | number },
): Promise<InvoiceRow[]> {
  const { rows } = await sql<InvoiceRow>`${kept}
    select ${INVOICE.list} from invoice
    where merchant_id = ${merchantId} and subscription_id = ${subscriptionId} and status = 'paid'
      and period_end = ${periodEnd}
    order by created_at desc, invoice_id desc`.execute(tx);
  return rows;
}

/** Fails the transaction if the period already has an invoice. */
export async function insertInvoice(tx: Tx, row: InvoiceRow): Promise<void> {
  await insertRows(tx, INVOICE, [row]);
}

/**
 * Writes a decision about an open invoice, whose lock the caller holds.
 *
 * @returns the updated row
 */
export async function updateInvoice(
  tx: Tx,
  known: InvoiceRow,
  facts: InvoiceFacts,
  payments: Partial<Pick<InvoiceRow, 'session_id' | 'page_payment_id' | 'charge_payment_id'>>,
): Promise<InvoiceRow> {
  const { session_id, page_payment_id, charge_payment_id } = { ...known, ...payments };
  const change = { ...changingColumns(facts), session_id, page_payment_id, charge_payment_id };
  const { merchant_id, invoice_id } = known;
  await updateRows(tx, INVOICE, [{ merchant_id, invoice_id, ...change }], ['invoice_id']);
  return { ...known, ...change };
}

/** The sum of a mandate's charges, under way or paid, in one window of its cap. */
export const capUsed = (
  merchantId: string,
  window: { subscriptionId: string; methodId: string; start: number },
) => sql<{ used: bigint }>`${many('subscription_id')}
  select w.subscription_id, (
    select coalesce(sum(charge_amount), 0)::bigint from invoice i
    where i.merchant_id = ${merchantId} and i.subscription_id = w.subscription_id
      and i.charge_method_id = w.method_id and i.charge_window_start = w.start
  ) as used
  from unnest(${[window.subscriptionId]}::uuid[], ${[window.methodId]}::uuid[], ${[window.start]}::bigint[])
    as w (subscription_id, method_id, start)`;

/** Frees the cap of a failed charge that its invoice no longer waited for. */
export async function freeCap(
  tx: Tx,
  {
    merchantId,
    subscriptionId,
    paymentId,
  }: { merchantId: string; subscriptionId: string; paymentId: string },
): Promise<void> {
  await tx
    .updateTable('invoice')
    .set({ charge_method_id: null, charge_window_start: null, charge_amount: null })
    .where('merchant_id', '=', merchantId)
    .where('subscription_id', '=', subscriptionId)
    .where('charge_payment_id', '=', paymentId)
    .execute();
}

/** The open invoices of these subscriptions, oldest first. */
export async function listOpenInvoices(
  db: Db,
  merchantId: string,
  subscriptionIds: readonly string[],
): Promise<InvoiceRow[]> {
  const { rows } = await sql<InvoiceRow>`${kept}
    select ${INVOICE.list} from invoice
    where merchant_id = ${merchantId} and subscription_id = any(${subscriptionIds}::uuid[]) and status = 'open'
    order by created_at, invoice_id`.execute(db);
  return rows;
}
