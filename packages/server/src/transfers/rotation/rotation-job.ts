import type { Network } from '@florin/contract/money';
import type { JobSpec } from '../../platform/jobs/index.ts';

/** Hands over what rotated wallets hold, and looks at them every day afterwards; payload `{ network }`. */
export const ROTATION_JOB = 'transfers.rotation';

export const rotationJob = (merchantId: string, network: Network, dueAtMs: number): JobSpec => ({
  merchantId,
  kind: ROTATION_JOB,
  uniqueKey: network,
  dueAtMs,
  payload: { network },
});

/** A wallet that is closed for longer has lost its command: nobody else opens it again. */
export const CLOSING_ALARM_SECONDS = 1_800;
