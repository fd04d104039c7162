export { findHeld } from './accept-payment.ts';
export { creditedRows, paymentRows } from './book-queries.ts';
export { rulesOf } from './change-payment.ts';
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
  type Pulled,
  quoteCharge,
  recordFailedCharge,
  regainCharge,
} from './charges.ts';
export { chooseOption } from './choose-option.ts';
export { normalPageUrls } from './create-session.ts';
export { decideSeizure } from './decide-seizure.ts';
export { type DepositBooks, listCursors, readDepositBooks } from './deposit-queries.ts';
export {
  type CheckoutContext,
  type CheckoutDeps,
  checkoutContext,
  checkoutSettings,
  type MerchantRef,
} from './deps.ts';
export { endPaymentNow } from './end-now.ts';
export { expirePayment } from './expire-payment.ts';
export { quoteAfresh } from './fresh-quote.ts';
export {
  closeInvoicePage,
  type InvoicePage,
  lockInvoicePage,
  type OpenedPage,
  openInvoicePage,
  readInvoicePage,
} from './invoice-pages.ts';
export {
  CREDITED_JOB,
  creditedJob,
  EXPIRE_JOB,
  INVOICE_NEWS_JOB,
  QUOTE_JOB,
  SCAN_JOB,
  scanJob,
} from './jobs.ts';
export { paymentLinkPages } from './links/pages.ts';
export { type LookAgain, lookForMoney, type PagesDue } from './look-for-money.ts';
export { ownAddressFinder } from './own-addresses.ts';
export { ownerOfPayment } from './owner-of-payment.ts';
export { type FoundPage, findPage } from './page/find-page.ts';
export { languageOf, queryOf } from './page/language.ts';
export {
  afterForm,
  checkoutPages,
  notFoundPage,
  PAGE_PATH,
  preparePages,
  readOption,
  wantsJson,
} from './page/pages.ts';
export { bdi, exact, rowsHtml, type SignKind, sign } from './page/parts.ts';
export { qrCodeOf } from './page/qr-code.ts';
export { type Say, sayFrom } from './page/say.ts';
export { type PayerPage, payerPage, storeHead } from './page/shell.ts';
export { dayText, localeOf, NETWORK_NAMES, periodText, timeText } from './page/shown.ts';
export { newPageSecret } from './page-token.ts';
export { offeredOptions, payableOptions } from './payable-options.ts';
export { currentOption, presentPayment } from './present.ts';
export { proveWallet } from './prove-wallet.ts';
export { findPaymentId, getSession, lockPayment, type PaymentView, readPayment } from './queries.ts';
export { moveRefundable, type RefundMove, type TransferKey } from './refund-books.ts';
export { repriceInvoicePage } from './reprice-invoice-page.ts';
export { checkoutRoutes } from './routes.ts';
export { scanDeposits } from './scan.ts';
export { readAgain } from './second-pass.ts';
export { CHECKOUT_SETTINGS } from './settings.ts';
export type { InvoicePageState, PageEnd } from './states.ts';
export {
  followSweptAgain,
  listUnswept,
  returnUnswept,
  takeUnswept,
  type UnsweptAddress,
} from './sweep-queries.ts';
