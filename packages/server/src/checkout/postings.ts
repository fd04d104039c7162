import type { Asset, Network } from '@florin/contract/money';
import type { PaymentTransactionKind } from '@florin/contract/schemas';
import type { Posting } from '../ledger/index.ts';

interface Arrived {
  currency: Asset;
  network: Network;
  amount: bigint;
  kind: PaymentTransactionKind;
}

const causeOf = (paymentId: string) => ({ type: 'payment', id: paymentId }) as const;

/**
 * What a final transfer books: its coins lie on the network for the merchant; it is owed as `held`, once its payment is
 * completed as `available`, from a listed sender as `seized` with the coins set aside.
 */
export function arrivalPostings(
  paymentId: string,
  { currency, network, amount, kind }: Arrived,
  isCompleted: boolean,
): Posting[] {
  const common = { currency, network, amount, cause: causeOf(paymentId) };
  const custody = `custody:${network}` as const;
  if (kind === 'unlisted') return [];
  if (kind === 'seized') {
    return [
      { ...common, debit: custody, credit: 'seized' },
      { ...common, debit: `custody_hold:${network}`, credit: custody },
    ];
  }
  const credit = kind === 'counted' && isCompleted ? 'available' : 'held';
  return [{ ...common, debit: custody, credit }];
}

/** What was held becomes the merchant's to spend. */
export function releaseHeldPostings(
  paymentId: string,
  held: { currency: Asset; network: Network; amount: bigint },
): Posting[] {
  if (held.amount === 0n) return [];
  return [{ ...held, debit: 'held', credit: 'available', cause: causeOf(paymentId) }];
}
