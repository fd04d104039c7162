export { currentOption, returnedAmount } from '../facts.ts';
export { findPaymentOwner } from './find-payment-owner.ts';
export { listPayments } from './list-payments.ts';
export {
  lockPayment,
  type OptionRow,
  type PaymentRow,
  type PaymentView,
  readPayment,
} from './queries.ts';
export { type PayerPayment, readPayerPayment } from './read-payer-payment.ts';
export { showPayment, showPayments } from './show-payment.ts';
