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

type Coins = Omit<Arrived, 'kind'>;

/** A reorganisation deeper than finality took coins away: the merchant keeps what was credited, the operator bears it. */
export function lostPostings({ paymentId, ...coins }: Coins & { paymentId: string }): Posting[] {
  const { currency, network, amount } = coins;
  const common = { currency, network, amount, cause: causeOf(paymentId) };
  return [{ ...common, debit: `reorg_loss:${network}`, credit: `float:${network}` }];
}

/** The same transfer was mined again. */
export function minedAgainPostings(paymentId: string, { currency, network, amount }: Coins): Posting[] {
  const common = { currency, network, amount, cause: causeOf(paymentId) };
  return [{ ...common, debit: `float:${network}`, credit: `reorg_loss:${network}` }];
}

/** Takes a seizure back, before its coins arrive anew. */
export function unseizePostings(paymentId: string, { currency, network, amount }: Coins): Posting[] {
  const common = { currency, network, amount, cause: causeOf(paymentId) };
  return [{ ...common, debit: 'seized', credit: `custody_hold:${network}` }];
}

/** Seized coins are no merchant's any more: the operator has them, and owes them to whoever has a right to them. */
export function keptPostings(paymentId: string, coins: Coins): Posting[] {
  const { currency, network, amount } = coins;
  const common = { currency, network, amount, cause: causeOf(paymentId) };
  return [
    ...unseizePostings(paymentId, coins),
    { ...common, debit: `float:${network}`, credit: `kept:${network}` },
  ];
}

/** What was held becomes the merchant's to spend. */
export function releaseHeldPostings(
  paymentId: string,
  held: { currency: Asset; network: Network; amount: bigint },
): Posting[] {
  if (held.amount === 0n) return [];
  return [{ ...held, debit: 'held', credit: 'available', cause: causeOf(paymentId) }];
}
