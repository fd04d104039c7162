export * as approvalLimits from './approval-limits.ts';
export * as approverKeys from './approver-keys.ts';
export { addApprover, identifyApprover, listApprovers, removeApprover } from './manage-approvers.ts';
export { castVote, type VoteCount } from './votes.ts';
