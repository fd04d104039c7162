import type { JobSpec } from '../platform/jobs/index.ts';

/** Sends what is due to one endpoint; payload `{ endpointId, storeId }`. One worker at a time has an endpoint. */
export const DELIVER_JOB = 'webhooks.deliver';

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
