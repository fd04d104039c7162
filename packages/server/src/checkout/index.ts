export { rulesOf } from './change-payment.ts';
export { chooseOption } from './choose-option.ts';
export { type CheckoutDeps, checkoutSettings } from './deps.ts';
export { expirePayment } from './expire-payment.ts';
export { EXPIRE_JOB, SCAN_JOB, scanJob } from './jobs.ts';
export { currentOption, presentPayment } from './present.ts';
export { proveWallet } from './prove-wallet.ts';
export {
  type DepositBooks,
  getSession,
  listCursors,
  type PaymentView,
  readDepositBooks,
  readPayment,
} from './queries.ts';
export { checkoutRoutes } from './routes.ts';
export { scanDeposits } from './scan.ts';
export { CHECKOUT_SETTINGS } from './settings.ts';
