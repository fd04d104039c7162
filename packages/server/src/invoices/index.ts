export {
  type CapUse,
  type InvoiceFacts,
  isLive,
  isOverdue,
  isPageInvoice,
  openPaymentStatus,
  type PageState,
  paidInvoice,
  voidInvoice,
} from './states.ts';
