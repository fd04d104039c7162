import type { Db, Tx } from '../../platform/db/index.ts';
import { insertRows, listed, prepared, updateRows } from '../../platform/db/statements/index.ts';
import { INVOICE } from '../decide/columns.ts';
import { changingColumns } from '../decide/facts.ts';
import type { InvoiceFacts } from '../decide/states.ts';
import type { InvoiceRow } from '../queries.ts';

/** Locks the open invoices of subscriptions, oldest first. The caller has locked the subscriptions before. */
export const openInvoicesLock = (
  merchantId: string,
  subscriptionIds: readonly string[],
) => prepared<InvoiceRow>`
  select ${INVOICE.list} from invoice
  where merchant_id = ${merchantId} and subscription_id = any(${subscriptionIds}::uuid[]) and status = 'open'
  order by created_at, invoice_id
  for update`;

/**
 * The paid invoices of a period, newest first. They change only under their subscription's lock, which the caller
 * holds.
 */
export async function listPaidInPeriod(
  tx: Tx,
  {
    merchantId,
    subscriptionId,
    periodEnd,
  }: { merchantId: string; subscriptionId: string; periodEnd: bigint | number },
): Promise<InvoiceRow[]> {
  const { rows } = await prepared<InvoiceRow>`
    select ${INVOICE.list} from invoice
    where merchant_id = ${merchantId} and subscription_id = ${subscriptionId} and status = 'paid'
      and period_end = ${periodEnd}
    order by created_at desc, invoice_id desc`.execute(tx);
  return rows;
}

/** A second invoice for a period fails the transaction. */
export async function insertInvoices(tx: Tx, rows: readonly InvoiceRow[]): Promise<void> {
  await insertRows(tx, INVOICE, rows);
}

/** An open invoice with the changes of a decision and of its effects. */
export interface InvoiceChange {
  known: InvoiceRow;
  facts: InvoiceFacts;
  payments: Partial<Pick<InvoiceRow, 'session_id' | 'page_payment_id' | 'charge_payment_id'>>;
}

/** Updates invoices of a merchant. The caller holds their locks. @returns the updated rows */
export async function updateInvoices(tx: Tx, changes: readonly InvoiceChange[]): Promise<InvoiceRow[]> {
  const changed = changes.map(({ known, facts, payments }) => {
    const { session_id, page_payment_id, charge_payment_id } = { ...known, ...payments };
    const change = { ...changingColumns(facts), session_id, page_payment_id, charge_payment_id };
    const { merchant_id, invoice_id } = known;
    return { known, row: { merchant_id, invoice_id, ...change } };
  });
  const rows = changed.map(({ row }) => row);
  await updateRows(tx, INVOICE, rows, ['invoice_id']);
  return changed.map(({ known, row }) => ({ ...known, ...row }));
}

/** One window of the cap of a mandate. */
export interface CapWindow {
  subscriptionId: string;
  methodId: string;
  start: number;
}

/** The part of each window's cap that pending and successful charges use, in the order of `windows`. */
export function capsUsed(merchantId: string, windows: readonly CapWindow[]) {
  const ordered = listed('w', windows, {
    subscription_id: ['uuid', (w) => w.subscriptionId],
    method_id: ['uuid', (w) => w.methodId],
    start: ['bigint', (w) => w.start],
    position: ['integer', (_w, i) => i],
  });
  return prepared<{ used: bigint }>`
    select (
      select coalesce(sum(charge_amount), 0)::bigint from invoice i
      where i.merchant_id = ${merchantId} and i.subscription_id = w.subscription_id
        and i.charge_method_id = w.method_id and i.charge_window_start = w.start
    ) as used
    from ${ordered}
    order by w.position`;
}

/** Frees the cap of a failed charge whose invoice is no longer open for it. */
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
  const { rows } = await prepared<InvoiceRow>`
    select ${INVOICE.list} from invoice
    where merchant_id = ${merchantId} and subscription_id = any(${subscriptionIds}::uuid[]) and status = 'open'
    order by created_at, invoice_id`.execute(db);
  return rows;
}
