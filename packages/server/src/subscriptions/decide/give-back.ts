import { mayStillBePaid } from '../../invoices/decide/index.ts';
import { creditFrom, restoreCredit } from './credit.ts';
import type { BillingDraft } from './draft.ts';
import { invoicePaid } from './pay.ts';

const min = (a: bigint, b: bigint) => (a < b ? a : b);

/**
 * Gives back the price reduction for the rest of a period. It first reduces open invoices of changes; those with a
 * pending payment come last. The rest becomes a credit, limited to the sum of the period's paid invoices.
 */
export function giveBack(draft: BillingDraft, value: bigint): void {
  const open = draft.openInvoices.filter(({ reason }) => reason === 'subscription_update').reverse();
  const free = open.filter((invoice) => !mayStillBePaid(invoice));
  const pending = open.filter(mayStillBePaid);
  let rest = value;
  for (const invoice of [...free, ...pending]) {
    const part = min(rest, invoice.amount - invoice.reduction);
    draft.put({ ...invoice, reduction: invoice.reduction + part });
    rest -= part;
  }
  for (const { id } of free) deductReduction(draft, id);
  // A part paid by credit is not part of the pending payment, so it can be returned now.
  for (const { id } of pending) rest -= restoreCredit(draft, id, rest);
  for (const { id } of draft.paidInPeriod) rest -= creditFrom(draft, id, rest);
}

/** Deducts an invoice's reduction from its amount. An invoice without a remaining amount is paid. */
export function deductReduction(draft: BillingDraft, invoiceId: string): void {
  const invoice = draft.invoice(invoiceId);
  if (invoice.reduction === 0n) return;
  const amount = invoice.amount - invoice.reduction;
  draft.put({ ...invoice, amount, reduction: 0n });
  if (amount === 0n) invoicePaid(draft, invoiceId);
}
