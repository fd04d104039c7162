import { type Asset, formatTokens } from '@florin/contract/money';
import { type ChainRegistry, ChainUnavailable } from '../chains/index.ts';
import { lockBalance, post } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Platform } from '../platform/platform.ts';
import { type Place, readStandings, type Standing } from './compare-with-chain.ts';

// Coins that lie in the hot wallet beyond what the books expect there become the operator's own: `float` grows by them,
// and so does `kept`. The chain is read before the transaction, and the balance of `float` that it was compared with must
// still stand when it is locked, so that two bookings never count the same coins.

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
 * Runs `book` in a transaction, with how the books stood to the chain just before; again where that has changed since.
 *
 * @throws Fail `service_unavailable` where the chain cannot be read
 */
export async function withStanding<T>(
  deps: BookingDeps,
  place: Place,
  currency: Asset,
  book: (tx: Tx, standing: Standing) => Promise<T>,
): Promise<T> {
  for (;;) {
    const standing = await readStanding(deps, place, currency);
    try {
      return await transact(deps.db, (tx) => book(tx, standing));
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
    }
  }
}

async function readStanding(deps: BookingDeps, place: Place, currency: Asset): Promise<Standing> {
  try {
    const standing = (await readStandings(deps, place)).find((one) => one.currency === currency);
    if (standing === undefined) throw new Error(`no standing of ${currency}`);
    return standing;
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const message = `${place.network} cannot be read right now. Repeat it later with the same reference.`;
    throw new Fail('service_unavailable', { message, cause: error });
  }
}

/** The operator's float, locked. */
export async function lockFloat(tx: Tx, { merchant, network }: Place, currency: Asset): Promise<bigint> {
  return await lockBalance(tx, merchant.merchantId, { account: `float:${network}`, currency });
}

/**
 * Books coins of the surplus. The caller holds the lock of the float, or another that orders those who book.
 *
 * @throws Fail param `amount` where less has arrived
 */
export async function bookOperatorCoins(
  tx: Tx,
  { merchant, network }: Place,
  coins: OperatorCoins & { cause: { type: 'fill' | 'surplus'; id: string } },
  { standing, float, nowSeconds }: { standing: Standing; float: bigint; nowSeconds: number },
): Promise<void> {
  if (float !== standing.float) throw new Outdated('the float has changed meanwhile');
  assertArrived({ network }, coins, standing);
  const { currency, amount, cause } = coins;
  const accounts = { debit: `float:${network}`, credit: `kept:${network}` } as const;
  await post(tx, merchant.merchantId, [{ currency, network, amount, cause, ...accounts }], nowSeconds);
}

/** @throws Fail param `amount` */
export function assertArrived(
  { network }: Pick<Place, 'network'>,
  { amount, currency }: OperatorCoins,
  { surplus, wallet }: Standing,
): void {
  if (amount <= surplus) return;
  const more = `${formatTokens(surplus)} ${currency}`;
  const message = `On ${network} final blocks hold ${more} more in ${wallet} than the books expect there.`;
  throw new Fail('invalid_request', { message, param: 'amount' });
}
