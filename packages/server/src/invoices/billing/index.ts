export {
  capsUsed,
  freeCap,
  type InvoiceChange,
  insertInvoices,
  listOpenInvoices,
  listPaidInPeriod,
  openInvoicesLock,
  updateInvoices,
} from './billing-queries.ts';
