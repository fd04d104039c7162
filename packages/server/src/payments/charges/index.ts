export {
  bookCharges,
  type ChargeQuote,
  completeReleased,
  endCharges,
  insertCharges,
  type MadeCharge,
  type NewCharge,
  quoteCharge,
} from './charges.ts';
