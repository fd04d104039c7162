export { changingColumns, factsOfInvoice, lastingColumns } from './facts.ts';
export {
  type CapUse,
  hasPendingPayment,
  type InvoiceFacts,
  isOverdue,
  isPageInvoice,
  mayStillBePaid,
  openPaymentStatus,
  type PageState,
  paidInvoice,
  voidInvoice,
} from './states.ts';
