export {
  approvalEndsAt,
  countPendingApproval,
  listSignedBatches,
  listWaitingBatches,
} from './approval-queries.ts';
export { payoutAuthority, payoutDecisions, payoutStatement, payoutVotes, payoutWaits } from './authority.ts';
export { decideApproval } from './decide-approval.ts';
export { decideLost, type LostVerdict } from './decide-lost.ts';
export { listPaidAlike } from './paid-before.ts';
