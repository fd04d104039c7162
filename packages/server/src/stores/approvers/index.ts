export * as approvalLimits from './approval-limits.ts';
export * as approverKeys from './approver-keys.ts';
export { checkIsNoAuthor, withAuthor } from './authors.ts';
export {
  addApprover,
  identifyApprover,
  linkApprover,
  listApprovers,
  removeApprover,
} from './manage-approvers.ts';
export { approverOf, setMayApprove } from './people.ts';
export type { VoteCount } from './votes.ts';
export * as votes from './votes.ts';
