export { changingColumns, factsOfInvoice, lastingColumns } from './facts.ts';
export {
  type CapUse,
  hasPendingPayment,
  type InvoiceFacts,
  isBusy,
  isOverdue,
  isPageInvoice,
  openPaymentStatus,
  type PageState,
  paidInvoice,
  voidInvoice,
} from './states.ts';
