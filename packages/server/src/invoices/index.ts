export { invoiceRows } from './book-queries.ts';
export { presentInterval, presentInvoice } from './present.ts';
export { findInvoice, getInvoice, type InvoiceRow, listInvoices } from './queries.ts';
export { invoiceRoutes } from './routes.ts';
