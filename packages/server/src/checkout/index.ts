export { normalPageUrls } from './create-session.ts';
export { openInvoicePage, readInvoicePage } from './invoice-pages.ts';
export { paymentLinkPages } from './links/pages.ts';
export { noticeAnswer, payerAnswer } from './page/answer.ts';
export { type FoundPage, findPage } from './page/find-page.ts';
export { languageOf } from './page/language.ts';
export {
  answerForm,
  checkoutPages,
  notFoundPage,
  PAGE_PATH,
  preparePages,
  readOption,
  wantsJson,
} from './page/pages.ts';
export { qrCodeOf } from './page/qr-code.ts';
export { dayText, localeOf, NETWORK_NAMES, periodText, timeText } from './page/shown.ts';
export { newPageSecret } from './page-token.ts';
export { offeredOptions, payableOptions } from './payable-options.ts';
export { checkoutRoutes } from './routes.ts';
export { findPaymentId, getSession } from './session-queries.ts';
