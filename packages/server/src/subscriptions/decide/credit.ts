import type { BillingDraft } from './draft.ts';

const min = (a: bigint, b: bigint) => (a < b ? a : b);

/** Returns the part of an invoice that a credit paid to the credit. @returns how much */
export function restoreCredit(draft: BillingDraft, invoiceId: string, value: bigint): bigint {
  const invoice = draft.invoice(invoiceId);
  const restored = min(value, invoice.creditApplied);
  draft.put({ ...invoice, creditApplied: invoice.creditApplied - restored });
  draft.change({ credit: draft.subscription.credit + restored });
  return restored;
}

/**
 * Credits a part of a paid invoice: first the credit that paid it, then its own payment. So all credits together never
 * exceed the paid sum, even if a plan is changed many times.
 *
 * @returns how much; less than `value` if the invoice covers less
 */
export function creditFrom(draft: BillingDraft, invoiceId: string, value: bigint): bigint {
  const restored = restoreCredit(draft, invoiceId, value);
  const invoice = draft.invoice(invoiceId);
  const fresh = min(value - restored, invoice.amount - invoice.credited);
  draft.put({ ...invoice, credited: invoice.credited + fresh });
  draft.change({ credit: draft.subscription.credit + fresh });
  return restored + fresh;
}
