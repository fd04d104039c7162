export type { ChargeNeeds, PaymentMethodDeps } from './deps.ts';
export { presentPaymentMethod } from './present.ts';
export {
  defaultPaymentMethods,
  findPaymentMethod,
  getPaymentMethod,
  lockPaymentMethods,
  type PaymentMethodRow,
  readPaymentMethod,
  walletOf,
  walletsLock,
} from './queries.ts';
export { paymentMethodRoutes } from './routes.ts';
export { PAYMENT_METHOD_SETTINGS } from './settings.ts';
export {
  declineCode,
  type MandateReading,
  mustWait,
} from './states.ts';
