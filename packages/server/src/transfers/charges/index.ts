export { type ChargedWallet, findDecidedCharge, openChargesOf, sumOpenCharges } from './charge-queries.ts';
export { refuseCharges } from './refuse-charges.ts';
