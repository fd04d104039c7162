export { listRefundable } from './list-refundable.ts';
