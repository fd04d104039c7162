export { acceptPayment, findHeld } from './accept-payment.ts';
export { decide } from './apply-transfers.ts';
export { creditedRows, paymentRows } from './book-queries.ts';
export { changePayment, paymentChange, rulesOf } from './change-payment.ts';
export { sumPulled } from './charge-queries.ts';
export {
  bookCharges,
  type ChargeQuote,
  type CompletedCharge,
  completeCharge,
  completeReleased,
  failCharge,
  insertCharge,
  loseCharge,
  type NewCharge,
  quoteCharge,
  recordFailedCharge,
  regainCharge,
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
export { endPaymentNow } from './end-now.ts';
export { expirePayment } from './expire-payment.ts';
export { quoteAfresh } from './fresh-quote.ts';
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
export { type LookAgain, lookForMoney, type PagesDue } from './look-for-money.ts';
export { ownAddressFinder } from './own-addresses.ts';
export { ownerOfPayment } from './owner-of-payment.ts';
export { currentOption, factsOf, fixedOptionOf, isQuoteDue, presentPayment, quoteLifeOf } from './present.ts';
export { proveWallet } from './prove-wallet.ts';
export {
  lockPayment,
  type OptionRow,
  type PaymentRow,
  type PaymentView,
  readPayment,
  UNPAID,
  updatePayment,
  upsertOption,
} from './queries.ts';
export { rateAtCreation } from './quote.ts';
export { moveRefundable, type TransferKey } from './refund-books.ts';
export { scanDeposits } from './scan.ts';
export { readAgain } from './second-pass.ts';
export { PAYMENT_SETTINGS } from './settings.ts';
export { endOfPage, type InvoicePageState, invoicePageState, type PageEnd, type Rules } from './states.ts';
export {
  bookParts,
  followSweptAgain,
  listUnswept,
  returnUnswept,
  takeUnswept,
  type UnsweptAddress,
} from './sweep-queries.ts';
