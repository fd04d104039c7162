export { countElsewhere } from '../queries.ts';
export {
  CHARGE_DECIDED_JOB,
  type ChargeOutcome,
  chargeOutcome,
  type OrderedCharge,
  orderCharges,
  scheduleWalletReads,
} from './order-charge.ts';
