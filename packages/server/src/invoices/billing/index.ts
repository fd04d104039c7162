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
