import { decidedJob } from '../transfers/index.ts';

/** Who the transfers of a batch belong to. */
export const OWNER_TYPE = 'payout_item';
export const PROCESS_JOB = 'payouts.process';
export const EXPIRE_APPROVAL_JOB = 'payouts.expire-approval';
export const SETTLE_JOB = decidedJob(OWNER_TYPE);

/** How long a batch waits for approval. */
export const APPROVAL_WAITS_SECONDS = 7 * 86_400;
