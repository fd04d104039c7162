export { countPendingApproval } from './approval-queries.ts';
export { payoutAuthority, payoutStatement } from './authority.ts';
export { decideApproval } from './decide-approval.ts';
export { decideLost, type LostVerdict } from './decide-lost.ts';
