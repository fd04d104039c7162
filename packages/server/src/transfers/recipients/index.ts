export { checkRecipient } from './check-recipient.ts';
export { type FindOwnAddresses, OWN_ADDRESS } from './own-addresses.ts';
export { type Screen, screen } from './screen.ts';
