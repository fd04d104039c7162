import type { Updateable } from 'kysely';
import type { Tables } from '../../platform/db/index.ts';
import type { InvoiceRow } from '../queries.ts';
import type { InvoiceFacts, PageState } from './states.ts';

const seconds = (value: bigint | number | null) => (value === null ? null : Number(value));

/** @param page the page's state, read under its lock */
export function factsOfInvoice(row: InvoiceRow, page: PageState): InvoiceFacts {
  const { charge_method_id: methodId, charge_window_start: windowStart, charge_amount: amount } = row;
  const hasUse = methodId !== null && windowStart !== null && amount !== null;
  return {
    id: row.invoice_id,
    reason: row.billing_reason,
    amount: row.amount_due,
    creditApplied: row.credit_applied_amount,
    credited: row.credited_amount,
    reduction: row.reduction_amount,
    status: row.status,
    paymentStatus: row.payment_status,
    periodStart: Number(row.period_start),
    periodEnd: Number(row.period_end),
    isSkipped: row.skipped,
    page,
    pendingChargeId: row.live_attempt,
    triedAt: seconds(row.attempt_at),
    capUse: hasUse ? { methodId, windowStart: Number(windowStart), amount } : null,
    tries: row.tries,
    nextTryAt: seconds(row.next_try_at),
    chargesEnded: row.charges_ended,
    overdueFrom: seconds(row.overdue_from),
    dunningDaysPassed: row.dunning_days_spent,
    dueDate: Number(row.due_date),
    suspendedSeconds: Number(row.suspended_seconds),
    paidAt: seconds(row.paid_at),
    createdAt: Number(row.created_at),
  };
}

/** The columns that decisions change. */
export function changingColumns(facts: InvoiceFacts) {
  return {
    amount_due: facts.amount,
    credit_applied_amount: facts.creditApplied,
    credited_amount: facts.credited,
    reduction_amount: facts.reduction,
    status: facts.status,
    payment_status: facts.paymentStatus,
    live_attempt: facts.pendingChargeId,
    attempt_at: facts.triedAt,
    charge_method_id: facts.capUse?.methodId ?? null,
    charge_window_start: facts.capUse?.windowStart ?? null,
    charge_amount: facts.capUse?.amount ?? null,
    tries: facts.tries,
    next_try_at: facts.nextTryAt,
    charges_ended: facts.chargesEnded,
    overdue_from: facts.overdueFrom,
    dunning_days_spent: facts.dunningDaysPassed,
    due_date: facts.dueDate,
    suspended_seconds: facts.suspendedSeconds,
    paid_at: facts.paidAt,
  } satisfies Updateable<Tables['invoice']>;
}

/** The columns that are fixed at creation. */
export function lastingColumns(facts: InvoiceFacts) {
  return {
    invoice_id: facts.id,
    billing_reason: facts.reason,
    period_start: facts.periodStart,
    period_end: facts.periodEnd,
    skipped: facts.isSkipped,
    created_at: facts.createdAt,
  } satisfies Updateable<Tables['invoice']>;
}
