export { auditedMoney } from './audited-money.ts';
export { creditedRows, paymentRows } from './book-queries.ts';
export { type DepositBooks, readDepositBooks } from './deposit-books.ts';
export { moveRefundable, type TransferKey } from './refund-books.ts';
