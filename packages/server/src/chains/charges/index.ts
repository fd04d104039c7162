export { ChargeRefused, UnservedMandate } from './charge-errors.ts';
