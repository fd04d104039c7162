import type { Posting } from '../ledger/index.ts';
import type { RefundRow } from './queries.ts';
import type { MoneyPlace } from './states.ts';

type Sum = Pick<RefundRow, 'refund_id' | 'currency' | 'network' | 'amount'>;

const common = ({ refund_id: id, currency, network, amount }: Sum) => ({
  currency,
  network,
  amount,
  cause: { type: 'refund', id } as const,
});

/** The merchant's money is set aside as the refund is made. */
export function reservePostings(refund: Sum, place: MoneyPlace): Posting[] {
  return [{ ...common(refund), debit: place, credit: 'refund_hold' }];
}

/** The coins are set aside as it is sent. */
export function reserveCoinsPostings(refund: Sum): Posting[] {
  const { network } = refund;
  return [{ ...common(refund), debit: `custody_hold:${network}`, credit: `custody:${network}` }];
}

/** It was paid: money and coins are gone. */
export function paidPostings(refund: Sum): Posting[] {
  return [{ ...common(refund), debit: 'refund_hold', credit: `custody_hold:${refund.network}` }];
}

/** It was not paid: the money goes back, and the coins where they were set aside. */
export function givenBackPostings(refund: Sum, place: MoneyPlace, wasSent: boolean): Posting[] {
  const { network } = refund;
  const money: Posting = { ...common(refund), debit: 'refund_hold', credit: place };
  if (!wasSent) return [money];
  return [money, { ...common(refund), debit: `custody:${network}`, credit: `custody_hold:${network}` }];
}

/** It was paid and is lost: what that booked is booked back. */
export function unpaidPostings(refund: Sum): Posting[] {
  return paidPostings(refund).map(({ debit, credit, ...posting }) => ({
    ...posting,
    debit: credit,
    credit: debit,
  }));
}
