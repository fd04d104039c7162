import { type Asset, formatTokens, type Network } from '@florin/contract/money';
import { type ChainRegistry, ChainUnavailable } from '../chains/index.ts';
import { lockBalance, post } from '../ledger/index.ts';
import type { Tx } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import { bodyDigest, claimKey } from '../platform/idempotency.ts';
import { encodeId, NIL_ID, newId } from '../platform/ids.ts';
import { occasionOf } from '../platform/occasion.ts';
import type { Platform } from '../platform/platform.ts';
import { transact } from '../platform/transact.ts';
import { type Place, readStandings, type Standing } from './compare-with-chain.ts';

// What a reorganisation took stays in `reorg_loss`, as mined again it is booked back from there. Coins that the operator
// sends into the wallet for it are the operator's own: `float` grows by them, and so does `kept`. Booked are only coins
// that lie in final blocks beyond what the books expect there, so that two fills never count the same ones: the chain is
// read first, and the balance that it was compared with must still stand when it is locked.

export interface Fill {
  currency: Asset;
  /** Smallest unit, above 0. */
  amount: bigint;
  /** The operator's own name for it, such as the id of the transaction that brought the coins. */
  reference: string;
}

export interface Filled {
  fill_id: string;
  /** True where this reference was booked before: nothing was booked now. */
  repeated: boolean;
  /** What is still missing of the currency on the network, smallest unit. */
  missing: bigint;
}

/** The float has changed since the chain was compared with it. */
class Outdated extends Error {}

/**
 * Books coins with which the operator fills up a merchant's float on a network.
 *
 * @throws Fail where less is missing or has arrived, where the reference stands for another fill, and where the chain
 *   cannot be read
 */
export async function fillFloat(
  deps: Platform & { chains: ChainRegistry },
  place: Place,
  fill: Fill,
): Promise<Filled> {
  for (;;) {
    const standing = await readStanding(deps, place, fill.currency);
    try {
      return await transact(deps.db, (tx) => book(tx, place, fill, { standing, deps }));
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
    }
  }
}

async function readStanding(
  deps: Platform & { chains: ChainRegistry },
  place: Place,
  currency: Asset,
): Promise<Standing | undefined> {
  try {
    return (await readStandings(deps, place)).find((standing) => standing.currency === currency);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const message = `${place.network} cannot be read right now. Repeat it later with the same reference.`;
    throw new Fail('service_unavailable', { message, cause: error });
  }
}

async function book(
  tx: Tx,
  { merchant, network }: Place,
  { currency, amount, reference }: Fill,
  { standing, deps }: { standing: Standing | undefined; deps: Platform },
): Promise<Filled> {
  const { merchantId } = merchant;
  const nowSeconds = occasionOf(deps, merchant).seconds;
  const key = await claimKey(tx, {
    merchantId,
    operation: 'networks.fill',
    key: reference,
    digest: bodyDigest({ network, currency, amount: String(amount) }),
    storeId: NIL_ID,
    resourceId: newId(),
    nowSeconds,
    param: 'reference',
  });
  const float = await lockBalance(tx, merchantId, { account: `float:${network}`, currency });
  const missing = float < 0n ? -float : 0n;
  const answer = { fill_id: encodeId('fill', key.resourceId), repeated: !key.first };
  if (!key.first) return { ...answer, missing };
  if (float !== standing?.float) throw new Outdated('the float has changed meanwhile');
  assertCovered({ currency, network, amount }, { missing, arrived: standing.found - standing.expected });
  const cause = { type: 'fill', id: key.resourceId } as const;
  const posting = { currency, network, amount, cause };
  await post(
    tx,
    merchantId,
    [{ ...posting, debit: `float:${network}`, credit: `kept:${network}` }],
    nowSeconds,
  );
  return { ...answer, missing: missing - amount };
}

/** @throws Fail param `amount` */
function assertCovered(
  { currency, network, amount }: { currency: Asset; network: Network; amount: bigint },
  { missing, arrived }: { missing: bigint; arrived: bigint },
): void {
  const refuse = (message: string) => new Fail('invalid_request', { message, param: 'amount' });
  const tokens = (units: bigint) => `${formatTokens(units)} ${currency}`;
  if (amount > missing)
    throw refuse(`On ${network} ${tokens(missing)} are missing: no more can be filled up.`);
  if (amount <= arrived) return;
  const more = tokens(arrived > 0n ? arrived : 0n);
  throw refuse(
    `On ${network} final blocks hold ${more} more than the books: send the coins to the hot wallet first.`,
  );
}
