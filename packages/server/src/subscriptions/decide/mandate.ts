import { hasPendingPayment } from '../../invoices/decide/index.ts';
import { chargesWithdrawn } from './charge.ts';
import { startTrial } from './creation.ts';
import { BillingDraft, type DecisionContext } from './draft.ts';
import type { Decision, Facts } from './facts.ts';

/**
 * Sets another mandate. All open invoices are tried with it at once, whatever ended the charges of the previous one.
 *
 * @returns whether this needs no `subscription.updated`, because the subscription was incomplete
 */
export function giveMandate(draft: BillingDraft, methodId: string): boolean {
  const { status, trialEnd } = draft.subscription;
  draft.change({ methodId });
  // An invoice with pending money is tried once the money is final and was not enough.
  for (const invoice of draft.openInvoices)
    draft.put({ ...invoice, chargesEnded: false, nextTryAt: draft.now });
  if (status !== 'incomplete') return false;
  if (trialEnd !== null) startTrial(draft);
  return true;
}

/** The payer has given a mandate. @param withdrawn invoices whose charges were withdrawn unsent */
export function decideMandate(
  facts: Facts,
  { methodId, withdrawn = [] }: { methodId: string; withdrawn?: readonly string[] },
  context: DecisionContext,
): Decision {
  const draft = new BillingDraft(facts, context);
  chargesWithdrawn(draft, withdrawn);
  if (!giveMandate(draft, methodId)) draft.emit('subscription.updated');
  return draft.decision;
}

/** Money or allowance of the mandate came back: invoices that failed or wait for it are tried at once. */
export function decideTopUp(facts: Facts, context: DecisionContext): Decision {
  const draft = new BillingDraft(facts, context);
  for (const invoice of draft.openInvoices)
    if (
      !hasPendingPayment(invoice) &&
      !invoice.chargesEnded &&
      (invoice.tries > 0 || invoice.nextTryAt !== null)
    )
      draft.put({ ...invoice, nextTryAt: Math.min(invoice.nextTryAt ?? draft.now, draft.now) });
  return draft.decision;
}

/** A try now, on request, whatever ended the charges. */
export function payNow(draft: BillingDraft, invoiceId: string): void {
  draft.put({ ...draft.invoice(invoiceId), chargesEnded: false, nextTryAt: draft.now });
}
