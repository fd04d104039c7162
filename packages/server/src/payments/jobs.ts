import type { JobSpec } from '../platform/jobs/index.ts';

/** Expires an unpaid payment; payload `{ paymentId }`. */
export const EXPIRE_JOB = 'checkout.expire';

/** Requotes a payment whose money came too late for its quote; payload `{ paymentId }`. */
export const QUOTE_JOB = 'checkout.quote';

export function expireJob(merchantId: string, paymentId: string, dueAtMs: number): JobSpec {
  const payload = { paymentId };
  return { merchantId, kind: EXPIRE_JOB, uniqueKey: paymentId, dueAtMs, followsClock: true, payload };
}

export function quoteJob(merchantId: string, paymentId: string, dueAtMs: number): JobSpec {
  const payload = { paymentId };
  return { merchantId, kind: QUOTE_JOB, uniqueKey: paymentId, dueAtMs, followsClock: true, payload };
}
