import { chargesWithdrawn } from './charge.ts';
import { BillingDraft, type DecisionContext } from './draft.ts';
import type { Decision, Facts } from './facts.ts';
import { giveBack } from './give-back.ts';
import { giveMandate } from './mandate.ts';
import { nextPeriodStart, openCycle, openInvoice } from './open-invoice.ts';
import { prorate } from './proration.ts';

export interface Update {
  /** The new sum of the items and when it counts; absent: the items stay. */
  items?: { amount: bigint; proration: 'now' | 'period_end' | 'none' };
  methodId?: string;
  /** Invoices whose charges were withdrawn unsent for another method. */
  withdrawn?: readonly string[];
  /** null: removes a planned cancel. */
  cancelAt?: number | null;
  /** Another public field has changed. */
  changesMore: boolean;
}

/** One update by the merchant. A more expensive plan is billed in the same change. */
export function decideUpdate(facts: Facts, update: Update, context: DecisionContext): Decision {
  const draft = new BillingDraft(facts, context);
  chargesWithdrawn(draft, update.withdrawn ?? []);
  const emittedByMandate = update.methodId !== undefined && giveMandate(draft, update.methodId);
  if (update.cancelAt !== undefined) draft.change({ cancelAt: update.cancelAt });
  const isChanged =
    update.changesMore ||
    update.cancelAt !== undefined ||
    (update.items && update.items.proration !== 'period_end');
  if (isChanged || (update.methodId !== undefined && !emittedByMandate)) draft.emit('subscription.updated');
  if (update.items !== undefined) changeItems(draft, update.items);
  return draft.decision;
}

function changeItems(draft: BillingDraft, { amount: after, proration }: NonNullable<Update['items']>): void {
  const { subscription, now } = draft;
  if (proration === 'period_end') {
    draft.change({ pendingAmount: after });
    return;
  }
  const { amount: before, billed, anchor, interval, status } = subscription;
  const { periodStart, periodEnd } = subscription;
  draft.change({ amount: after, pendingAmount: null });
  const isPaidFor = status !== 'trialing' && status !== 'incomplete' && now < periodEnd;
  if (proration === 'none' || !isPaidFor) return;
  const period = { start: periodStart, end: periodEnd };
  const adjustment = prorate({ before, after, billed }, period, { anchor, interval }, now);
  draft.change({ billed: adjustment.billed });
  if (adjustment.credit > 0n) giveBack(draft, adjustment.credit);
  if (adjustment.due === 0n) return;
  const rest = { start: now, end: periodEnd };
  openInvoice(draft, { reason: 'subscription_update', amount: adjustment.due, period: rest });
}

/** Previews the invoice that an update would open: at once, or else with the next cycle. */
export function previewUpdate(facts: Facts, update: Update, context: DecisionContext) {
  const { subscription, invoices } = decideUpdate(facts, update, context);
  const known = new Set([...facts.invoices, ...(facts.paidInPeriod ?? [])].map(({ id }) => id));
  const own = invoices.find(({ id }) => !known.has(id));
  if (own !== undefined) return own;
  // Open invoices are already billed, so the next cycle follows them.
  const ends = facts.invoices
    .filter(({ reason }) => reason !== 'subscription_update')
    .map(({ periodEnd }) => periodEnd);
  const periodEnd = Math.max(nextPeriodStart(subscription), ...ends);
  const next = { subscription: { ...subscription, periodEnd }, invoices: [] };
  return openCycle(new BillingDraft(next, { ...context, now: Math.max(context.now, periodEnd) }));
}
