export { acceptPayment, findHeldTransfer } from './accept-payment.ts';
export { decideArrival } from './apply-transfers.ts';
export { creditedRows, paymentRows } from './book-queries.ts';
export { changePayment, paymentChange, rulesOf } from './change-payment.ts';
export { sumPulled } from './charge-queries.ts';
export {
  bookCharges,
  type ChargeQuote,
  completeReleased,
  type EndedCharge,
  endCharges,
  insertCharges,
  loseCharge,
  type MadeCharge,
  type NewCharge,
  quoteCharge,
  regainCharge,
  type SettledCharge,
} from './charges.ts';
export { chooseOption } from './choose-option.ts';
export { decideSeizure } from './decide-seizure.ts';
export { type DepositBooks, listCursors, readDepositBooks } from './deposit-queries.ts';
export {
  type MerchantRef,
  type PaymentContext,
  type PaymentDeps,
  paymentContext,
  paymentSettings,
} from './deps.ts';
export { endPaymentNow } from './end-payment-now.ts';
export { expirePayment } from './expire-payment.ts';
export { findPaymentOwner } from './find-payment-owner.ts';
export {
  CREDITED_JOB,
  creditedJob,
  EXPIRE_JOB,
  expireJob,
  INVOICE_NEWS_JOB,
  QUOTE_JOB,
  SCAN_JOB,
  scanJob,
} from './jobs.ts';
export { ownAddressFinder } from './own-addresses.ts';
export { type DuePages, pollPages, type RetryAt } from './poll-pages.ts';
export {
  currentOption,
  factsOf,
  fixedOptionOf,
  isQuoteDue,
  presentPayment,
  quoteStatusOf,
} from './present.ts';
export { proveWallet } from './prove-wallet.ts';
export {
  lockPayment,
  lockPayments,
  type OptionRow,
  type PaymentRow,
  type PaymentView,
  readPayment,
  UNPAID,
  updatePayment,
  upsertOption,
} from './queries.ts';
export { readRateAtCreation } from './quote.ts';
export { moveRefundable, type TransferKey } from './refund-books.ts';
export { requotePayment } from './requote-payment.ts';
export { rescanBlocks } from './rescan.ts';
export { scanDeposits } from './scan-deposits.ts';
export { PAYMENT_SETTINGS } from './settings.ts';
export {
  type InvoicePageState,
  invoicePageState,
  type PageEnd,
  type Rules,
  statusAfterPageEnd,
} from './states.ts';
export {
  bookMissingParts,
  claimUnswept,
  listUnswept,
  reassignLostParts,
  releaseSweeps,
  type UnsweptAddress,
} from './sweep-queries.ts';
