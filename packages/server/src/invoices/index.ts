export { presentInterval, presentInvoice } from './present.ts';
export { findInvoice, getInvoice, type InvoiceRow } from './queries.ts';
export { invoiceRoutes } from './routes.ts';
