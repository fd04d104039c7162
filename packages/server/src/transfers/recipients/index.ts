export { checkRecipient } from './check-recipient.ts';
export { lookOf, markRecipient } from './look-alikes.ts';
export { type Screen, screen } from './screen.ts';
export { type FindUnpayable, UNPAYABLE } from './unpayable-addresses.ts';
