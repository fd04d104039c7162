export { cancelPayment } from './cancel-payment.ts';
export { chooseOption } from './choose-option.ts';
export {
  type MerchantRef,
  type PaymentContext,
  type PaymentDeps,
  paymentSettings,
} from './deps.ts';
export { endPaymentNow } from './end-payment-now.ts';
export { paymentHandlers } from './handlers.ts';
export { EXPIRE_JOB } from './jobs.ts';
export { openPayment } from './open-payment.ts';
export { proveWallet } from './prove-wallet.ts';
export { PAYMENT_SETTINGS, parseOption } from './settings.ts';
export type { InvoicePageState } from './states.ts';
export { unpayableFinder } from './unpayable-addresses.ts';
