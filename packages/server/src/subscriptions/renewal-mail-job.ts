import type { JobSpec } from '../platform/jobs/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';
import { realMsOf } from './jobs.ts';
import type { SubscriptionRow } from './queries.ts';
import { isRunning } from './states.ts';

/** Reads a mandate 3 days before it is charged, and mails the customer if it will be short; payload `{ subscriptionId }`. */
export const RENEWAL_MAIL_JOB = 'subscriptions.renewal_mail';

const AHEAD_SECONDS = 3 * 86_400;

/** When the mandate of the next renewal is read; undefined: no mandate pays it. */
export function renewalMailAt(row: SubscriptionRow): number | undefined {
  const { payment_method_id: methodId, current_period_end: end, cancel_at: cancelAt } = row;
  if (methodId === null || !isRunning(row.status)) return undefined;
  return cancelAt !== null && cancelAt <= end ? undefined : Number(end) - AHEAD_SECONDS;
}

/** The job of a period that has just begun, or of another mandate. Periods of less than 3 days have none. */
export function renewalMailJobs(
  before: SubscriptionRow,
  after: SubscriptionRow,
  time: MerchantTime,
): JobSpec[] {
  const at = renewalMailAt(after);
  const isAsBefore = at === renewalMailAt(before) && before.payment_method_id === after.payment_method_id;
  if (at === undefined || at <= time.seconds || isAsBefore) return [];
  const { merchant_id: merchantId, subscription_id: subscriptionId } = after;
  return [
    {
      merchantId,
      kind: RENEWAL_MAIL_JOB,
      uniqueKey: subscriptionId,
      dueAtMs: realMsOf(at, time),
      followsClock: true,
      payload: { subscriptionId },
    },
  ];
}
