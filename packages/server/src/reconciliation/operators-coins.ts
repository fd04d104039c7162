import { type Asset, formatTokens } from '@florin/contract/money';
import type { ChainRegistry } from '../chains/index.ts';
import { ChainUnavailable } from '../chains/port/index.ts';
import { lockBalance } from '../ledger/balances/index.ts';
import { post } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Platform } from '../platform/platform.ts';
import { type ChainComparison, compareWithChain, type MerchantNetwork } from './compare-with-chain.ts';

// Books coins in the hot wallet beyond the books as the operator's own: debits `float` and credits `kept`. The chain is read
// before the transaction, and `float` must be unchanged when it is locked, so that two bookings never count the same coins.

export interface OperatorCoins {
  currency: Asset;
  /** Smallest unit, above 0. */
  amount: bigint;
  /** The operator's own name for it, such as the id of the transaction that brought the coins. */
  reference: string;
}

export type BookingDeps = Platform & { chains: ChainRegistry };

/** The float has changed since the chain was compared with it. */
class Outdated extends Error {}

/**
 * Compares the books with the chain and runs `book` in a transaction. Repeats both if the float has changed between them.
 *
 * @throws Fail `service_unavailable` if the chain cannot be read
 */
export async function withChainComparison<T>(
  deps: BookingDeps,
  target: MerchantNetwork,
  currency: Asset,
  book: (tx: Tx, comparison: ChainComparison) => Promise<T>,
): Promise<T> {
  for (;;) {
    const comparison = await compareCurrency(deps, target, currency);
    try {
      return await transact(deps.db, (tx) => book(tx, comparison));
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
    }
  }
}

async function compareCurrency(
  deps: BookingDeps,
  target: MerchantNetwork,
  currency: Asset,
): Promise<ChainComparison> {
  try {
    const comparison = (await compareWithChain(deps, target)).find((one) => one.currency === currency);
    if (comparison === undefined) throw new Error(`no comparison for ${currency}`);
    return comparison;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const message = `${target.network} cannot be read right now. Repeat it later with the same reference.`;
    throw new Fail('service_unavailable', { message, cause: error });
  }
}

/** The operator's float, locked. */
export async function lockFloat(
  tx: Tx,
  { merchant, network }: MerchantNetwork,
  currency: Asset,
): Promise<bigint> {
  return await lockBalance(tx, merchant.merchantId, { account: `float:${network}`, currency });
}

/**
 * Books coins of the surplus. The caller holds the lock of the float, or another lock that serializes bookings.
 *
 * @throws Fail param `amount` if less has arrived
 */
export async function bookOperatorCoins(
  tx: Tx,
  { merchant, network }: MerchantNetwork,
  coins: OperatorCoins & { cause: { type: 'fill' | 'surplus'; id: string } },
  { comparison, float, nowSeconds }: { comparison: ChainComparison; float: bigint; nowSeconds: number },
): Promise<void> {
  if (float !== comparison.float) throw new Outdated('the float has changed meanwhile');
  assertArrived({ network }, coins, comparison);
  const { currency, amount, cause } = coins;
  const accounts = { debit: `float:${network}`, credit: `kept:${network}` } as const;
  await post(tx, merchant.merchantId, [{ currency, network, amount, cause, ...accounts }], nowSeconds);
}

/** @throws Fail param `amount` */
export function assertArrived(
  { network }: Pick<MerchantNetwork, 'network'>,
  { amount, currency }: OperatorCoins,
  { surplus, wallet }: ChainComparison,
): void {
  if (amount <= surplus) return;
  const more = `${formatTokens(surplus)} ${currency}`;
  const message = `On ${network} final blocks hold ${more} more in ${wallet} than the books expect there.`;
  throw new Fail('invalid_request', { message, param: 'amount' });
}
