import type { JobSpec } from '../platform/jobs/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';

/**
 * Makes the due changes of a subscription. Payload `{ subscriptionId }`, with `look: true` for a job that waits for a
 * network.
 */
export const DUE_JOB = 'subscriptions.due';

/** Real Unix milliseconds at which the merchant's clock shows a time. */
export function realMsOf(at: number, { seconds, realMs }: MerchantTime): number {
  return (Math.floor(realMs / 1000) + at - seconds) * 1000;
}

/** The job of a subscription, due at its next deadline. */
export function dueJob(
  {
    merchant_id: merchantId,
    subscription_id: subscriptionId,
  }: { merchant_id: string; subscription_id: string },
  dueAtMs: number,
): JobSpec {
  const payload = { subscriptionId };
  return { merchantId, kind: DUE_JOB, uniqueKey: subscriptionId, dueAtMs, followsClock: true, payload };
}

/**
 * Polls a network again for money that would prevent a due change. `look` is part of stored jobs, so it keeps its name.
 */
export function pollJob(
  merchantId: string,
  subscriptionId: string,
  { againAtMs: dueAtMs, followsClock }: { againAtMs: number; followsClock: boolean },
): JobSpec {
  const payload = { subscriptionId, look: true };
  return { merchantId, kind: DUE_JOB, uniqueKey: `${subscriptionId} look`, dueAtMs, followsClock, payload };
}
