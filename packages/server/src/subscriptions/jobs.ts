import type { JobSpec } from '../platform/jobs/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';

/** Does what is due of a subscription; payload `{ subscriptionId }`, and `look` for one that waits for a network. */
export const DUE_JOB = 'subscriptions.due';

/** Real Unix milliseconds at which the merchant's clock shows a time. */
export function realMsOf(at: number, { seconds, realMs }: MerchantTime): number {
  return (Math.floor(realMs / 1000) + at - seconds) * 1000;
}

/** One for each subscription, at the next time at which anything of it is due. */
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

/** Looks again for money that would keep a subscription from a change that is due. */
export function lookJob(
  merchantId: string,
  subscriptionId: string,
  { againAtMs: dueAtMs, followsClock }: { againAtMs: number; followsClock: boolean },
): JobSpec {
  const payload = { subscriptionId, look: true };
  return { merchantId, kind: DUE_JOB, uniqueKey: `${subscriptionId} look`, dueAtMs, followsClock, payload };
}
