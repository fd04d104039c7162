export { acceptPayment, findHeldTransfer } from './accept-payment.ts';
export { creditedRows, paymentRows } from './book-queries.ts';
export { cancelPayment } from './cancel-payment.ts';
export { rulesOf } from './change-payment.ts';
export { chargeBooks } from './charge-books.ts';
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
  INVOICE_NEWS_JOB,
  networkOf,
  scanJob,
} from './jobs.ts';
export { listPayments, readPaymentFilter } from './list-payments.ts';
export { openPayment } from './open-payment.ts';
export { ownAddressFinder } from './own-addresses.ts';
export { type DuePages, pollPages, type RetryAt } from './poll-pages.ts';
export {
  currentOption,
  isQuoteDue,
  presentPayment,
  quoteStatusOf,
} from './present.ts';
export { proveWallet } from './prove-wallet.ts';
export {
  lockPayment,
  type OptionRow,
  type PaymentRow,
  type PaymentView,
  readPayment,
  viewsOf,
} from './queries.ts';
export { readRateAtCreation } from './quote.ts';
export { moveRefundable, type TransferKey } from './refund-books.ts';
export { rescanBlocks } from './rescan.ts';
export { listScanJobs } from './scan-deposits.ts';
export { PAYMENT_SETTINGS, parseOption } from './settings.ts';
export type { InvoicePageState, Rules } from './states.ts';
