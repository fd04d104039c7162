import { sql } from 'kysely';
import type { Db, Tx } from '../platform/db/index.ts';
import { insertRows, kept, many, updateRows } from '../platform/db/index.ts';
import { INVOICE } from './columns.ts';
import { changingColumns } from './facts.ts';
import type { InvoiceRow } from './queries.ts';
import type { InvoiceFacts } from './states.ts';

/** Locks the open ones of a subscription, oldest first. It follows the lock of the subscription. */
export const openInvoicesLock = (
  merchantId: string,
  subscriptionId: string,
) => sql<InvoiceRow>`${many('subscription_id')}
  select ${INVOICE.list} from invoice
  where merchant_id = ${merchantId} and subscription_id = any(${[subscriptionId]}::uuid[]) and status = 'open'
  order by created_at, invoice_id
  for update`;

/** The paid ones of a period, newest first; the caller has the lock of their subscription, under which alone they change. */
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

/** A second invoice for a period fails the transaction. */
export async function insertInvoice(tx: Tx, row: InvoiceRow): Promise<void> {
  await insertRows(tx, INVOICE, [row]);
}

/**
 * What a decision and what followed from it have made of an open invoice, whose lock the caller has.
 *
 * @returns it as it is from now on
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

/** What charges of a mandate that are on their way or have paid take of one window of its cap. */
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

/** A charge that an invoice did not wait for any more has failed: what it would have taken of a cap is free. */
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

/** The open ones of these subscriptions, oldest first. */
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
