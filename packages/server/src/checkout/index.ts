export { normalPageUrls, openSessionPage } from './create-session.ts';
export { checkoutHandlers } from './handlers.ts';
export * as invoicePages from './invoice-pages.ts';
export { newPageSecret } from './page-token.ts';
export { checkoutPages } from './pages.ts';
export { offeredOptions, payableOptions } from './payable-options.ts';
export { findPayerPage } from './payer-page.ts';
export { checkoutRoutes } from './routes.ts';
export { findPaymentId, getSession } from './session-queries.ts';
