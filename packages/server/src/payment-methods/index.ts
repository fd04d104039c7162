export type { ChargeNeeds, PaymentMethodDeps } from './deps.ts';
export {
  CHARGE_DECIDED_JOB,
  type ChargeOutcome,
  chargeOutcome,
  type OrderedCharge,
  orderCharges,
  readAfterCharges,
} from './order-charge.ts';
export { presentPaymentMethod } from './present.ts';
export {
  defaultPaymentMethods,
  findPaymentMethod,
  getPaymentMethod,
  type PaymentMethodRow,
  readPaymentMethod,
  walletOf,
  walletsLock,
} from './queries.ts';
export { METHOD_CHANGED_JOB, readMandate, readWallet } from './read-mandate.ts';
export { paymentMethodRoutes } from './routes.ts';
export { changeSandboxWallet, giveSandboxMandate } from './sandbox-wallet.ts';
export { type GivenMandate, saveMandate } from './save-mandate.ts';
export { PAYMENT_METHOD_SETTINGS } from './settings.ts';
export {
  declineCode,
  type MandateReading,
  mustWait,
} from './states.ts';
export { WATCH_METHODS_JOB } from './watch-job.ts';
export { watchMethods } from './watch-methods.ts';
