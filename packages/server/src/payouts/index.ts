export { countPendingApproval } from './approval-queries.ts';
export { payoutBatchRows, payoutItemRows } from './book-queries.ts';
export { decideApproval } from './decide-approval.ts';
export { decideLost, type LostVerdict } from './decide-lost.ts';
export type { PayoutDeps } from './deps.ts';
export {
  EXPIRE_APPROVAL_JOB,
  expireApproval,
  PROCESS_JOB,
  processBatch,
  SETTLE_JOB,
  settleBatch,
} from './jobs.ts';
export { presentBatch } from './present.ts';
export { batchIdOf, listBatches, locateItem, merchantOfBatch } from './queries.ts';
export { payoutRoutes } from './routes.ts';
export { PAYOUT_SETTINGS } from './settings.ts';
