export {
  CHARGE_DECIDED_JOB,
  type ChargeOutcome,
  chargeOutcome,
  type OrderedCharge,
  orderCharges,
  readAfterCharges,
} from './order-charge.ts';
