import { isBusy } from '../../invoices/index.ts';
import { creditFrom, restoreCredit } from './credit.ts';
import type { Draft } from './draft.ts';
import { invoicePaid } from './pay.ts';

const min = (a: bigint, b: bigint) => (a < b ? a : b);

/**
 * What the rest of a period costs less. Open invoices of changes are reduced by it first, those that a payment is on its
 * way to after the others; the rest is a credit, of what the paid invoices of the period cover and no more.
 */
export function giveBack(draft: Draft, value: bigint): void {
  const open = draft.openInvoices.filter(({ reason }) => reason === 'subscription_update').reverse();
  const free = open.filter((invoice) => !isBusy(invoice));
  const busy = open.filter(isBusy);
  let rest = value;
  for (const invoice of [...free, ...busy]) {
    const part = min(rest, invoice.amount - invoice.reduction);
    draft.put({ ...invoice, reduction: invoice.reduction + part });
    rest -= part;
  }
  for (const { id } of free) takeOff(draft, id);
  // What a credit paid of it is no part of the payment that is on its way.
  for (const { id } of busy) rest -= restoreCredit(draft, id, rest);
  for (const { id } of draft.covering) rest -= creditFrom(draft, id, rest);
}

/** Reduces an invoice by what was given back of it. One that asks for nothing any more is paid. */
export function takeOff(draft: Draft, invoiceId: string): void {
  const invoice = draft.invoice(invoiceId);
  if (invoice.reduction === 0n) return;
  const amount = invoice.amount - invoice.reduction;
  draft.put({ ...invoice, amount, reduction: 0n });
  if (amount === 0n) invoicePaid(draft, invoiceId);
}
