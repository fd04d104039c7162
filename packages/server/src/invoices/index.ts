export {
  capsUsed,
  freeCap,
  type InvoiceChange,
  insertInvoices,
  listCovering,
  listOpenInvoices,
  openInvoicesLock,
  updateInvoices,
} from './billing-queries.ts';
export { invoiceRows } from './book-queries.ts';
export { changingColumns, factsOfInvoice, lastingColumns } from './facts.ts';
export { presentInterval, presentInvoice } from './present.ts';
export { findInvoice, getInvoice, type InvoiceRow, listInvoices } from './queries.ts';
export { invoiceRoutes } from './routes.ts';
export {
  type CapUse,
  type InvoiceFacts,
  isBusy,
  isLive,
  isOverdue,
  isPageInvoice,
  openPaymentStatus,
  type PageState,
  paidInvoice,
  voidInvoice,
} from './states.ts';
