import type { JobSpec } from '../platform/jobs/index.ts';

/** Sends the due deliveries of one endpoint; payload `{ endpointId, storeId }`. One worker at a time has an endpoint. */
export const DELIVER_JOB = 'webhooks.deliver';

/** Pauses or resumes the remaining deliveries of an endpoint that was disabled or enabled; the same payload. */
export const ALIGN_JOB = 'webhooks.align';

export interface EndpointRef {
  merchantId: string;
  storeId: string;
  endpointId: string;
}

/** @param dueAtMs real time in Unix milliseconds; it moves with the merchant's clock */
export function deliverJob({ merchantId, storeId, endpointId }: EndpointRef, dueAtMs: number): JobSpec {
  const payload = { endpointId, storeId };
  return { merchantId, kind: DELIVER_JOB, uniqueKey: endpointId, dueAtMs, followsClock: true, payload };
}

/** @param dueAtMs real time in Unix milliseconds */
export function alignJob({ merchantId, storeId, endpointId }: EndpointRef, dueAtMs: number): JobSpec {
  const payload = { endpointId, storeId };
  return { merchantId, kind: ALIGN_JOB, uniqueKey: endpointId, dueAtMs, payload };
}
