export {
  approvalEndsAt,
  countAwaitingApproval,
  findByOwnId,
  listAwaitingApproval,
  listRefundedAlike,
  listSignedRefunds,
} from './approval-queries.ts';
export * as refundAuthorities from './authority.ts';
export { decideRefund } from './decide-approval.ts';
export { decideLostRefund, type LostRefundVerdict } from './decide-lost.ts';
