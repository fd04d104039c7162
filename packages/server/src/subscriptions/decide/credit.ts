import type { Draft } from './draft.ts';

const min = (a: bigint, b: bigint) => (a < b ? a : b);

/** Gives back what a credit paid of an invoice. @returns how much */
export function restoreCredit(draft: Draft, invoiceId: string, value: bigint): bigint {
  const invoice = draft.invoice(invoiceId);
  const restored = min(value, invoice.creditApplied);
  draft.put({ ...invoice, creditApplied: invoice.creditApplied - restored });
  draft.change({ credit: draft.subscription.credit + restored });
  return restored;
}

/**
 * Gives some of a paid invoice back: first the credit that paid it, then its own payment. So all credits together never
 * exceed what was paid, however often a plan goes up and down.
 *
 * @returns how much; less than `value` where the invoice covers less
 */
export function creditFrom(draft: Draft, invoiceId: string, value: bigint): bigint {
  const restored = restoreCredit(draft, invoiceId, value);
  const invoice = draft.invoice(invoiceId);
  const fresh = min(value - restored, invoice.amount - invoice.credited);
  draft.put({ ...invoice, credited: invoice.credited + fresh });
  draft.change({ credit: draft.subscription.credit + fresh });
  return restored + fresh;
}
