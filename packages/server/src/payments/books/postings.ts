import type { Asset, Network } from '@florin/contract/money';
import type { PaymentTransactionKind } from '@florin/contract/schemas';
import type { Posting } from '../../ledger/index.ts';

interface Arrived {
  currency: Asset;
  network: Network;
  amount: bigint;
  kind: PaymentTransactionKind;
}

const causeOf = (paymentId: string) => ({ type: 'payment', id: paymentId }) as const;

/**
 * Books a final transfer: debits the network's `custody` and credits the merchant's `held`, or `available` if the payment
 * is completed. A transfer from a sanctioned sender is credited to `seized`, and its coins move to `custody_hold`.
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

/** A reorganisation deeper than finality took coins: the merchant keeps the credit, the operator bears the loss. */
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

/** Reverses a seizure; the caller books the coins anew. */
export function unseizePostings(paymentId: string, { currency, network, amount }: Coins): Posting[] {
  const common = { currency, network, amount, cause: causeOf(paymentId) };
  return [{ ...common, debit: 'seized', credit: `custody_hold:${network}` }];
}

/** Moves seized coins from the merchant to the operator, who owes them to their rightful owner (`kept`). */
export function keptPostings(paymentId: string, coins: Coins): Posting[] {
  const { currency, network, amount } = coins;
  const common = { currency, network, amount, cause: causeOf(paymentId) };
  return [
    ...unseizePostings(paymentId, coins),
    { ...common, debit: `float:${network}`, credit: `kept:${network}` },
  ];
}

/** Makes a held amount available. */
export function releaseHeldPostings(
  paymentId: string,
  held: { currency: Asset; network: Network; amount: bigint },
): Posting[] {
  if (held.amount === 0n) return [];
  return [{ ...held, debit: 'held', credit: 'available', cause: causeOf(paymentId) }];
}
