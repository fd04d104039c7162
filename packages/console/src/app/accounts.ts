import { NETWORK_NAMES } from './format.tsx';

const MEANINGS: Readonly<Record<string, string>> = {
  available: 'May be spent',
  held: 'Received, not yet decided: late or partial money',
  payout_hold: 'Reserved by payouts',
  refund_hold: 'Reserved by refunds',
  seized: 'From sanctioned senders',
  fees: 'Service fees charged',
  network_cost: 'Network fees paid in this currency',
};
const COINS: Readonly<Record<string, string>> = { custody: 'free to send', custody_hold: 'reserved' };

/** What an account of the ledger holds, in words. */
export function meaningOf(account: string): string {
  const [kind = '', network = ''] = account.split(':');
  const coins = COINS[kind];
  return coins === undefined
    ? (MEANINGS[account] ?? account)
    : `Coins on ${NETWORK_NAMES[network]}, ${coins}`;
}
