export { MANDATE_DECIDED_JOB } from './activate-mandate.ts';
export { dropActivation, findEndedActivation, requestActivation } from './activations.ts';
export { type ChargedWallet, findDecidedCharge, openChargesOf, sumOpenCharges } from './charge-queries.ts';
export { refuseCharges } from './refuse-charges.ts';
