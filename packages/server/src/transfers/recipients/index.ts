export { checkRecipient } from './check-recipient.ts';
export { findAlike } from './find-alike.ts';
export { lookOf, markRecipient, type PaidAddress } from './look-alikes.ts';
export { type Screen, screen } from './screen.ts';
export { type FindUnpayable, UNPAYABLE } from './unpayable-addresses.ts';
