export { MANDATE_DECIDED_JOB } from './activate-mandate.ts';
export {
  findEndedActivation,
  isPermitUnderWay,
  lockPermits,
  type PermitKey,
  requestActivation,
} from './activations.ts';
export { type ChargedWallet, findDecidedCharge, openChargesOf, sumOpenCharges } from './charge-queries.ts';
export { dropActivation, dropUnsentActivation } from './drop-activation.ts';
export { refuseCharges, withdrawCharges } from './refuse-charges.ts';
