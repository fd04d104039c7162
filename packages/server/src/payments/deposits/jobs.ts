import { NETWORKS, type Network } from '@florin/contract/money';
import type { Job, JobSpec } from '../../platform/jobs/index.ts';

// These kinds are part of stored jobs, so they keep the name of the module that deposits were in before.

/** Scans a network for transfers to a merchant's addresses; payload `{ network }`. */
export const SCAN_JOB = 'checkout.scan';
/** Coins were credited; `custody` sweeps them; payload `{ network }`. */
export const CREDITED_JOB = 'checkout.credited';

/** Runs in real time, not by the merchant's clock: the scan interval depends on how recently something happened. */
export function scanJob(merchantId: string, network: Network, dueAtMs: number): JobSpec {
  return { merchantId, kind: SCAN_JOB, uniqueKey: network, dueAtMs, payload: { network } };
}

export function creditedJob(merchantId: string, network: Network, dueAtMs: number): JobSpec {
  return {
    merchantId,
    kind: CREDITED_JOB,
    uniqueKey: network,
    dueAtMs,
    followsClock: true,
    payload: { network },
  };
}

/** The network of a job with payload `{ network }`. */
export function networkOf({ kind, payload }: Pick<Job, 'kind' | 'payload'>): Network {
  const network = NETWORKS.find((known) => known === payload.network);
  if (network === undefined) throw new Error(`a ${kind} job must name a network`);
  return network;
}
