export { cancelRefund, expireClaim } from './cancel-refund.ts';
export { claimRefund } from './claim-refund.ts';
export type { RefundDeps } from './deps.ts';
export { EXPIRE_CLAIM_JOB, SEND_REFUND_JOB, SETTLE_REFUND_JOB } from './jobs.ts';
export { claimPages } from './page/pages.ts';
export { getRefund, refundHolds, refundNames, shortRefunds } from './queries.ts';
export { refundRoutes, showRefund } from './routes.ts';
export { sendRefund, settleRefund } from './send-refund.ts';
export { REFUND_SETTINGS } from './settings.ts';
