import { ASSETS, type Asset, type Network } from '@florin/contract/money';
import type { ChainRegistry } from '../chains/index.ts';
import type { Chain } from '../chains/port/index.ts';
import { readBalances, sumOfEntries } from '../ledger/balances/index.ts';
import { type Balances, coinsOn } from '../ledger/index.ts';
import { type DepositBooks, readDepositBooks } from '../payments/books/index.ts';
import type { Db } from '../platform/db/index.ts';
import type { Merchant } from '../stores/index.ts';
import { readDeciding } from '../transfers/attempts/index.ts';
import { listUnsettled, sumPaidByTransfers } from '../transfers/books/index.ts';
import { compareCoins, type DepositCoins } from './compare-coins.ts';
import { type ExpectedCoins, expectedAtDeposits } from './deposit-coins.ts';

// Reads the books as of one snapshot, then the chain as of one newer final block. Everything paid in the books was final
// before, so that block contains it. The status of undecided transactions is read from the chain up to that block. Whatever
// begins after the snapshot cannot be final yet. So concurrent movements make no difference. A lagging node may report a
// charge as undecided although its balance includes the coins: these are no surplus.

export interface MerchantNetwork {
  merchant: Merchant;
  network: Network;
}

export interface ChainDifference {
  currency: Asset;
  what: string;
  expected: bigint;
  found: bigint;
}

interface Books {
  balances: Balances;
  /** Paid by transfers, less received charges, that their owners have not booked yet. */
  unbooked: ReadonlyMap<Asset, bigint>;
  undecided: Awaited<ReturnType<typeof listUnsettled>>;
  deposits: DepositBooks;
  /** Expected coins at deposit addresses. */
  deposited: readonly ExpectedCoins[];
}

/** The books of a currency compared with a network's final blocks. */
export interface ChainComparison {
  currency: Asset;
  /** Missing coins, and coins at deposit addresses that nobody was credited for. */
  differences: ChainDifference[];
  /** Coins in the hot wallet beyond the books: a stranger's, or the operator's. */
  surplus: bigint;
  /** The hot wallet. */
  wallet: string;
  /** The operator's own part of the coins; below zero, the loss of a reorganisation. */
  float: bigint;
}

/**
 * @returns one comparison per currency
 * @throws ChainUnavailable; Fail if the installation has no node for the network
 */
export async function compareWithChain(
  deps: { db: Db; chains: ChainRegistry },
  { merchant, network }: MerchantNetwork,
): Promise<ChainComparison[]> {
  await deps.chains.refresh();
  const chain = deps.chains.of(merchant, network);
  const wallets = await chain.hotWallets();
  const sender = wallets.at(-1) ?? '';
  const books = await readBooks(deps.db, { merchant, network });
  const { addresses } = books.deposits;
  const { height, found } = await readFinal(chain, [...wallets, ...addresses]);
  const { paid, incoming } = await paidUpTo(chain, books, height);
  // Coins that are credited and not in final blocks yet count against those that are there and not credited yet.
  const arrived = withoutEarly(
    await arrivedUpTo(chain, books.deposits, height),
    books.deposits.early,
    height,
  );
  return ASSETS.map((currency) => {
    const unbooked = (books.unbooked.get(currency) ?? 0n) + (paid.get(currency) ?? 0n);
    // Includes the operator's coins (kept seizures, fills); negative if a reorganisation took some.
    const float = books.balances.get(currency)?.get(`float:${network}`) ?? 0n;
    const credited = coinsOn(books.balances.get(currency), network) + float;
    const coins = found.get(currency) ?? new Map<string, bigint>();
    const { mismatches, surplus } = compareCoins({
      expected: credited - unbooked + sumOf(arrived.get(currency)),
      // Rotated ones are the merchant's as well.
      hot: { address: sender, found: sumAt(coins, wallets), incoming: incoming.get(currency) ?? 0n },
      deposits: depositsOf(books, currency, { coins, arrived: arrived.get(currency) }),
    });
    const differences = mismatches.map(({ address, ...amounts }) => {
      const what = `custody on ${network}: balance of ${address} on the chain`;
      return { currency, what, ...amounts };
    });
    return { currency, differences, surplus, wallet: sender, float };
  });
}

type ByAddress = ReadonlyMap<string, bigint>;

const sumOf = (amounts: ByAddress | undefined) =>
  [...(amounts?.values() ?? [])].reduce((sum, amount) => sum + amount, 0n);

const sumAt = (coins: ByAddress, addresses: readonly string[]) =>
  addresses.reduce((sum, address) => sum + (coins.get(address) ?? 0n), 0n);

/** Found and expected coins of each deposit address. */
function depositsOf(
  { deposits, deposited }: Books,
  currency: Asset,
  { coins, arrived }: { coins: ByAddress; arrived: ByAddress | undefined },
): DepositCoins[] {
  const expected = new Map(
    deposited.filter((one) => one.currency === currency).map((one) => [one.address, one]),
  );
  return deposits.addresses.map((address) => {
    const { min = 0n, max = 0n } = expected.get(address) ?? {};
    const uncredited = arrived?.get(address) ?? 0n;
    return { address, found: coins.get(address) ?? 0n, min: min + uncredited, max: max + uncredited };
  });
}

async function readBooks(db: Db, { merchant, network }: MerchantNetwork): Promise<Books> {
  const { merchantId } = merchant;
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const deposits = await readDepositBooks(tx, merchantId, network);
      const unbooked = new Map<Asset, bigint>();
      for (const currency of ASSETS) {
        const paid = await sumPaidByTransfers(tx, merchantId, { network, currency });
        const coins = { credit: `custody_hold:${network}`, currency } as const;
        const batches = await sumOfEntries(tx, merchantId, { ...coins, debit: 'payout_hold' });
        const refunds = await sumOfEntries(tx, merchantId, { ...coins, debit: 'refund_hold' });
        const back = { debit: `custody_hold:${network}`, currency } as const;
        const givenBack =
          (await sumOfEntries(tx, merchantId, { ...back, credit: 'payout_hold' })) +
          (await sumOfEntries(tx, merchantId, { ...back, credit: 'refund_hold' }));
        const pulled = deposits.pulled.get(currency) ?? 0n;
        unbooked.set(currency, paid + pulled - batches - refunds + givenBack);
      }
      const undecided = await listUnsettled(tx, merchantId, network);
      const deposited = await expectedAtDeposits(tx, merchantId, network);
      const balances = await readBalances(tx, merchantId);
      return { balances, unbooked, undecided, deposits, deposited };
    });
}

/** Reads all balances as of one final block; repeats if another block became final meanwhile. */
async function readFinal(
  chain: Chain,
  addresses: readonly string[],
): Promise<{ height: bigint; found: Map<Asset, ByAddress> }> {
  for (;;) {
    const found = new Map<Asset, ByAddress>();
    const heights = new Set<bigint>();
    for (const currency of ASSETS) {
      const { height, balances } = await chain.balances(addresses, currency, 'final');
      heights.add(height);
      found.set(currency, balances);
    }
    const [height, ...others] = heights;
    if (height !== undefined && others.length === 0) return { height, found };
  }
}

/** Transfers in final blocks up to this height that are not credited yet, summed by address. */
async function arrivedUpTo(
  chain: Chain,
  books: DepositBooks,
  height: bigint,
): Promise<Map<Asset, Map<string, bigint>>> {
  const arrived = new Map<Asset, Map<string, bigint>>();
  if (books.watch.length === 0) return arrived;
  for (let { cursor } = books, complete = false; !complete; ) {
    const { watch } = books;
    const page = await chain.scan({ level: 'final', cursor, watch, upTo: height, isCheck: true });
    for (const { asset, txId, index, amount, to } of page.transfers) {
      if (asset === null || books.credited.has(`${txId}/${index}`)) continue;
      const ofAsset = arrived.get(asset) ?? new Map<string, bigint>();
      arrived.set(asset, ofAsset.set(to, (ofAsset.get(to) ?? 0n) + amount));
    }
    ({ cursor, complete } = page);
  }
  return arrived;
}

function withoutEarly(
  arrived: Map<Asset, Map<string, bigint>>,
  early: DepositBooks['early'],
  height: bigint,
): Map<Asset, ByAddress> {
  for (const { address, currency, amount } of early.filter((one) => one.height > height)) {
    const ofAsset = arrived.get(currency) ?? new Map<string, bigint>();
    arrived.set(currency, ofAsset.set(address, (ofAsset.get(address) ?? 0n) - amount));
  }
  return arrived;
}

/**
 * What undecided transactions have paid up to a block, beyond the books; received charges count as negative amounts.
 *
 * @returns `paid` by final ones, and `incoming` that the others may bring
 */
async function paidUpTo(chain: Chain, { undecided }: Books, height: bigint) {
  const [paid, incoming] = [new Map<Asset, bigint>(), new Map<Asset, bigint>()];
  const add = (sums: Map<Asset, bigint>, currency: Asset, amounts: readonly bigint[]) =>
    sums.set(
      currency,
      amounts.reduce((total, amount) => total + amount, sums.get(currency) ?? 0n),
    );
  for (const { amounts, counted: booked, currency, versions } of undecided) {
    // The books may count a transaction that a reorganisation removed; it is in no block until it is final again.
    add(paid, currency, [-booked]);
    const { status } = await readDeciding(chain, versions);
    const { state, height: at, itemOk, paidBefore } = status;
    const isPaid = state === 'final' && at !== undefined && at <= height;
    const counted = amounts.filter((amount, i) =>
      isPaid ? (itemOk?.[i] ?? true) && paidBefore?.[i] !== true : amount < 0n,
    );
    if (isPaid) add(paid, currency, counted);
    else
      add(
        incoming,
        currency,
        counted.map((amount) => -amount),
      );
  }
  return { paid, incoming };
}
