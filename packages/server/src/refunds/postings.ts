import { type Posting, reversed } from '../ledger/index.ts';
import type { RefundRow } from './queries.ts';
import type { MerchantBalance } from './states.ts';

type Sum = Pick<RefundRow, 'refund_id' | 'currency' | 'network' | 'amount'>;

const common = ({ refund_id: id, currency, network, amount }: Sum) => ({
  currency,
  network,
  amount,
  cause: { type: 'refund', id } as const,
});

/** Reserves the merchant's money when the refund is created. */
export function reservePostings(refund: Sum, balance: MerchantBalance): Posting[] {
  return [{ ...common(refund), debit: balance, credit: 'refund_hold' }];
}

/** Reserves the coins when the refund is sent. */
export function reserveCoinsPostings(refund: Sum): Posting[] {
  const { network } = refund;
  return [{ ...common(refund), debit: `custody_hold:${network}`, credit: `custody:${network}` }];
}

/** Books a paid refund: money and coins are gone. */
export function paidPostings(refund: Sum): Posting[] {
  return [{ ...common(refund), debit: 'refund_hold', credit: `custody_hold:${refund.network}` }];
}

/** Releases the money of a refund that was not paid, and the coins if they were reserved. */
export function releasePostings(refund: Sum, balance: MerchantBalance, wasSent: boolean): Posting[] {
  const { network } = refund;
  const money: Posting = { ...common(refund), debit: 'refund_hold', credit: balance };
  if (!wasSent) return [money];
  return [money, { ...common(refund), debit: `custody:${network}`, credit: `custody_hold:${network}` }];
}

/** Reverses the booking of a paid refund that is lost. */
export function unpaidPostings(refund: Sum): Posting[] {
  return reversed(paidPostings(refund));
}
