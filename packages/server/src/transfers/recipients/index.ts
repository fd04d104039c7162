export { checkRecipient } from './check-recipient.ts';
export { lookOf, markRecipient, type PaidAddress } from './look-alikes.ts';
export { type Screen, screen } from './screen.ts';
export { type FindUnpayable, UNPAYABLE } from './unpayable-addresses.ts';
