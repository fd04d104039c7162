export { changingColumns, factsOfInvoice, lastingColumns } from './facts.ts';
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
