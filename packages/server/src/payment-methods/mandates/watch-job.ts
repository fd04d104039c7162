import type { Network } from '@florin/contract/money';
import type { JobSpec } from '../../platform/jobs/index.ts';

/** Reads the methods of a network that are due for reading. Payload `{ network }`. */
export const WATCH_METHODS_JOB = 'payment_methods.watch';

export function watchJob(merchantId: string, network: Network, dueAtMs: number): JobSpec {
  const payload = { network };
  return {
    merchantId,
    kind: WATCH_METHODS_JOB,
    uniqueKey: network,
    dueAtMs,
    followsClock: true,
    payload,
  };
}
