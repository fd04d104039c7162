export {
  closeInvoicePage,
  lockInvoicePages,
  readInvoicePageState,
  repriceInvoicePage,
} from './invoice-pages.ts';
export { INVOICE_PAGE_CHANGED_JOB } from './page-changed-job.ts';
export { type DuePages, pollPages, type RetryAt } from './poll-pages.ts';
