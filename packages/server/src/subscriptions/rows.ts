import { isDeepStrictEqual } from 'node:util';
import type { Updateable } from 'kysely';
import type { Tables } from '../platform/db/index.ts';
import { type Range, type Ranges, rangesTo } from './decide/billed-ranges.ts';
import type { SubscriptionFacts } from './decide/facts.ts';
import type { SubscriptionRow } from './queries.ts';
import type { StoredItem, StoredLevel } from './tables.ts';

const seconds = (value: bigint | number | null) => (value === null ? null : Number(value));

/** The price of items per period, in the smallest unit of their currency. */
export function sumOf(items: readonly Pick<StoredItem, 'unit_amount' | 'quantity'>[]): bigint {
  return items.reduce((sum, item) => sum + BigInt(item.unit_amount) * BigInt(item.quantity), 0n);
}

const readLevel = ([from, to]: StoredLevel): Range => ({ from: BigInt(from), to: BigInt(to) });
const writeLevel = ({ from, to }: Range): StoredLevel => [String(from), String(to)];
const isAll = (billed: Ranges, amount: bigint) => isDeepStrictEqual(billed, rangesTo(amount));

export function factsOfSubscription(row: SubscriptionRow): SubscriptionFacts {
  return {
    status: row.status,
    amount: row.amount,
    billed: row.billed_levels === null ? rangesTo(row.amount) : row.billed_levels.map(readLevel),
    pendingAmount: row.pending_items && sumOf(row.pending_items),
    interval: row.interval,
    anchor: Number(row.billing_cycle_anchor),
    trialEnd: seconds(row.trial_end),
    periodStart: Number(row.current_period_start),
    periodEnd: Number(row.current_period_end),
    skippedUntil: seconds(row.skipped_until),
    cancelAt: seconds(row.cancel_at),
    canceledAt: seconds(row.canceled_at),
    credit: row.credit_amount,
    methodId: row.payment_method_id,
    latestInvoiceId: row.latest_invoice_id,
    createdAt: Number(row.created_at),
  };
}

/** The columns that decisions write. */
export function subscriptionColumns(facts: SubscriptionFacts) {
  return {
    status: facts.status,
    amount: facts.amount,
    billed_levels: isAll(facts.billed, facts.amount) ? null : facts.billed.map(writeLevel),
    interval: facts.interval,
    billing_cycle_anchor: facts.anchor,
    trial_end: facts.trialEnd,
    current_period_start: facts.periodStart,
    current_period_end: facts.periodEnd,
    skipped_until: facts.skippedUntil,
    cancel_at: facts.cancelAt,
    canceled_at: facts.canceledAt,
    credit_amount: facts.credit,
    payment_method_id: facts.methodId,
    latest_invoice_id: facts.latestInvoiceId,
  } satisfies Updateable<Tables['subscription']>;
}
