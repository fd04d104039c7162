export { acceptPayment, findHeldTransfer } from './accept-payment.ts';
export { auditedMoney } from './audited-money.ts';
export { creditedRows, paymentRows } from './book-queries.ts';
export { cancelPayment } from './cancel-payment.ts';
export {
  bookCharges,
  type ChargeQuote,
  completeReleased,
  endCharges,
  insertCharges,
  type MadeCharge,
  type NewCharge,
  quoteCharge,
} from './charges.ts';
export { chooseOption } from './choose-option.ts';
export { decideSeizure } from './decide-seizure.ts';
export { type DepositBooks, readDepositBooks } from './deposit-books.ts';
export {
  type MerchantRef,
  type PaymentContext,
  type PaymentDeps,
  paymentSettings,
} from './deps.ts';
export { endPaymentNow } from './end-payment-now.ts';
export { findPaymentOwner } from './find-payment-owner.ts';
export { paymentHandlers } from './handlers.ts';
export {
  closeInvoicePage,
  lockInvoicePages,
  readInvoicePageState,
  repriceInvoicePage,
} from './invoice-pages.ts';
export {
  CREDITED_JOB,
  creditedJob,
  EXPIRE_JOB,
  INVOICE_PAGE_CHANGED_JOB,
  networkOf,
  scanJob,
} from './jobs.ts';
export { listPayments } from './list-payments.ts';
export { openPayment } from './open-payment.ts';
export { ownAddressFinder } from './own-addresses.ts';
export { type DuePages, pollPages, type RetryAt } from './poll-pages.ts';
export { currentOption } from './present.ts';
export { proveWallet } from './prove-wallet.ts';
export {
  lockPayment,
  type OptionRow,
  type PaymentRow,
  type PaymentView,
  readPayment,
} from './queries.ts';
export { readRateAtCreation } from './quote.ts';
export { type PayerPayment, readPayerPayment } from './read-payer-payment.ts';
export { moveRefundable, type TransferKey } from './refund-books.ts';
export { listScanJobs } from './scan-deposits.ts';
export { PAYMENT_SETTINGS, parseOption } from './settings.ts';
export { showPayment, showPayments } from './show-payment.ts';
export type { InvoicePageState } from './states.ts';
