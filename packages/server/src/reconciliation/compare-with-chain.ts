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
import { listMovedSince, listOpenSweeps } from './moved-since.ts';

// Reads the books as of one snapshot, then the chain as of one newer final block. Everything paid in the books was final
// before, so that block contains it. The status of undecided transactions is read from the chain up to that block. Whatever
// begins after the snapshot cannot be final yet. So concurrent movements make no difference. A lagging node may report a
// charge as undecided although its balance includes the coins: these are no surplus.
// Some networks show many balances as of several blocks. Then what moved in these may be seen or not, and reading may take so long
// that what began after the snapshot is among it: the transfers of ours that may be in them are read from the books once more.

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
  openSweeps: ReadonlySet<string>;
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
  /** Deposit addresses with more coins than is known of, as the nodes tell nothing usable of what came to them. */
  unread: readonly string[];
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
  const found = await readFinal(chain, [...wallets, ...addresses]);
  const { paid, incoming, outgoing } = await paidUpTo(chain, books, found);
  // Coins that are credited and not in final blocks yet count against those that are there and not credited yet.
  const arrived = withoutEarly(await arrivedUpTo(chain, books.deposits, found), books.deposits.early, found);
  const comparisons: ChainComparison[] = [];
  for (const currency of ASSETS) {
    const { blocks, coins } = found.get(currency) ?? NOTHING_FOUND;
    const since = await movedSince(deps.db, { merchant, network }, { books, currency, blocks });
    const unbooked = (books.unbooked.get(currency) ?? 0n) + (paid.get(currency) ?? 0n);
    // Includes the operator's coins (kept seizures, fills); negative if a reorganisation took some.
    const float = books.balances.get(currency)?.get(`float:${network}`) ?? 0n;
    const credited = coinsOn(books.balances.get(currency), network) + float;
    const deposits = depositsOf(books, currency, { coins, arrived, begun: since.begun });
    const { mismatches, surplus } = compareCoins({
      expected: credited - unbooked + sumOf(arrived.before.get(currency)),
      hot: {
        address: sender,
        // Rotated ones are the merchant's as well.
        found: sumAt(coins, wallets),
        incoming: (incoming.get(currency) ?? 0n) + since.incoming,
        outgoing: (outgoing.get(currency) ?? 0n) + since.outgoing,
        swept: since.swept,
      },
      deposits,
    });
    const differences = mismatches.map(({ address, ...amounts }) => {
      const what = `custody on ${network}: balance of ${address} on the chain`;
      return { currency, what, ...amounts };
    });
    const unread = deposits.flatMap(({ address, isUnread }) => (isUnread ? [address] : []));
    comparisons.push({ currency, differences, surplus, wallet: sender, float, unread });
  }
  return comparisons;
}

/** The final blocks that balances are as of, each as of one of them. */
interface BlockRange {
  from: bigint;
  to: bigint;
}

type Found = ReadonlyMap<Asset, { blocks: BlockRange; coins: ByAddress }>;

const NOTHING_FOUND = { blocks: { from: 0n, to: 0n }, coins: new Map<string, bigint>() };

type ByAddress = ReadonlyMap<string, bigint>;

const sumOf = (amounts: ByAddress | undefined) =>
  [...(amounts?.values() ?? [])].reduce((sum, amount) => sum + amount, 0n);

const sumAt = (coins: ByAddress, addresses: readonly string[]) =>
  addresses.reduce((sum, address) => sum + (coins.get(address) ?? 0n), 0n);

/** Found and expected coins of each deposit address. */
function depositsOf(
  { deposits, deposited }: Books,
  currency: Asset,
  { coins, arrived, begun }: { coins: ByAddress; arrived: Arrived; begun: ByAddress },
): (DepositCoins & { isUnread: boolean })[] {
  const expected = new Map(
    deposited.filter((one) => one.currency === currency).map((one) => [one.address, one]),
  );
  return deposits.addresses.map((address, i) => {
    const { min: booked = 0n, max = 0n } = expected.get(address) ?? {};
    const uncredited = arrived.before.get(currency)?.get(address) ?? 0n;
    const swept = begun.get(deposits.watch[i] ?? '') ?? 0n;
    const least = booked + uncredited;
    const most = max + uncredited;
    const found = coins.get(address) ?? 0n;
    const within = arrived.within.get(currency)?.get(address) ?? 0n;
    const min = swept < least ? least - swept : least < 0n ? least : 0n;
    // What came to it is told by a later answer: all beyond what must be there may be that. Coins that are missing are missing.
    const isUnread = arrived.unread.has(deposits.watch[i] ?? '');
    const beyond = isUnread ? found - min : 0n;
    return {
      address,
      found,
      min,
      max: most,
      arriving: beyond > within ? beyond : within,
      isUnread: isUnread && found > most + within,
    };
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
      const openSweeps = await listOpenSweeps(tx, { merchantId, network });
      const deposited = await expectedAtDeposits(tx, merchantId, network);
      const balances = await readBalances(tx, merchantId);
      return { balances, unbooked, undecided, openSweeps, deposits, deposited };
    });
}

/** Reads the balances once, each currency as of its own final blocks. */
async function readFinal(chain: Chain, addresses: readonly string[]): Promise<Found> {
  const found = new Map<Asset, { blocks: BlockRange; coins: ByAddress }>();
  for (const currency of ASSETS) {
    const { height, upTo, balances } = await chain.balances(addresses, currency, 'final');
    found.set(currency, { blocks: { from: height, to: upTo ?? height }, coins: balances });
  }
  return found;
}

type BySide = Map<Asset, Map<string, bigint>>;

/** Coins at deposit addresses that are not credited: in blocks before those of the balances, and within them. */
interface Arrived {
  before: BySide;
  within: BySide;
  /** `ScanAnswer.unread`: of these addresses there may be more. */
  unread: Set<string>;
}

function addTo(side: BySide, currency: Asset, address: string, amount: bigint): void {
  const ofAsset = side.get(currency) ?? new Map<string, bigint>();
  side.set(currency, ofAsset.set(address, (ofAsset.get(address) ?? 0n) + amount));
}

/** Looks at a node that has not reached the blocks of the balances, with a pause between them. */
const LOOKS_MAX = 5;
const LOOK_AGAIN_MS = 300;

/** Transfers in final blocks up to those of the balances that are not credited yet, summed by address. */
async function arrivedUpTo(chain: Chain, books: DepositBooks, found: Found): Promise<Arrived> {
  const arrived: Arrived = { before: new Map(), within: new Map(), unread: new Set() };
  if (books.watch.length === 0) return arrived;
  const ends = [...found.values()].map(({ blocks }) => blocks.to);
  const upTo = ends.reduce((most, height) => (height > most ? height : most), 0n);
  const { watch } = books;
  for (let { cursor } = books, looks = 0; looks < LOOKS_MAX; ) {
    const page = await chain.scan({ level: 'final', cursor, watch, upTo, isCheck: true });
    for (const { asset, txId, index, amount, to, height } of page.transfers) {
      if (asset === null || books.credited.has(`${txId}/${index}`)) continue;
      const { blocks } = found.get(asset) ?? NOTHING_FOUND;
      if (height <= blocks.from) addTo(arrived.before, asset, to, amount);
      else if (height <= blocks.to) addTo(arrived.within, asset, to, amount);
    }
    for (const one of page.unread ?? []) arrived.unread.add(one);
    ({ cursor } = page);
    if (!page.complete) continue;
    if (page.head.finalHeight >= upTo) break;
    looks += 1;
    if (looks < LOOKS_MAX) await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return arrived;
}

function withoutEarly(arrived: Arrived, early: DepositBooks['early'], found: Found): Arrived {
  for (const { address, currency, amount, height } of early) {
    const { from, to } = (found.get(currency) ?? NOTHING_FOUND).blocks;
    if (height <= from) continue;
    addTo(arrived.before, currency, address, -amount);
    if (height <= to) addTo(arrived.within, currency, address, amount);
  }
  return arrived;
}

/**
 * What undecided transactions have paid up to the blocks of the balances, beyond the books; received charges count as negative amounts.
 *
 * @returns `paid` by those before these blocks, `outgoing` that those within them may have paid, and `incoming` that any may bring
 */
async function paidUpTo(chain: Chain, { undecided }: Books, found: Found) {
  const [paid, incoming, outgoing] = [
    new Map<Asset, bigint>(),
    new Map<Asset, bigint>(),
    new Map<Asset, bigint>(),
  ];
  const add = (sums: Map<Asset, bigint>, currency: Asset, amounts: readonly bigint[]) =>
    sums.set(
      currency,
      amounts.reduce((total, amount) => total + amount, sums.get(currency) ?? 0n),
    );
  for (const { amounts, counted: booked, currency, versions } of undecided) {
    // The books may count a transaction that a reorganisation removed; it is in no block until it is final again.
    add(paid, currency, [-booked]);
    const { from, to } = (found.get(currency) ?? NOTHING_FOUND).blocks;
    const { status } = await readDeciding(chain, versions);
    const { state, height: at, itemOk, paidBefore } = status;
    const isFinal = state === 'final' && at !== undefined && at <= to;
    const moved = amounts.filter((_, i) => (itemOk?.[i] ?? true) && paidBefore?.[i] !== true);
    if (isFinal && at <= from) {
      add(paid, currency, moved);
      continue;
    }
    const charges = (isFinal ? moved : amounts).filter((amount) => amount < 0n);
    add(
      incoming,
      currency,
      charges.map((amount) => -amount),
    );
    if (isFinal)
      add(
        outgoing,
        currency,
        moved.filter((amount) => amount > 0n),
      );
  }
  return { paid, incoming, outgoing };
}

/**
 * What transfers of ours may have moved within the blocks of the balances, read after these. Transfers that the snapshot knows as
 * undecided are left to `paidUpTo`, as they are read from the chain.
 *
 * @returns `swept` by all sweeps, and `begun` by those after the snapshot, by watched address
 */
async function movedSince(
  db: Db,
  { merchant, network }: MerchantNetwork,
  { books, currency, blocks }: { books: Books; currency: Asset; blocks: BlockRange },
) {
  const begun = new Map<string, bigint>();
  let [swept, incoming, outgoing] = [0n, 0n, 0n];
  if (blocks.to === blocks.from) return { begun, swept, incoming, outgoing };
  const { merchantId } = merchant;
  const known = new Set(books.undecided.flatMap(({ itemIds }) => itemIds));
  const moved = await listMovedSince(db, { merchantId, network }, { currency, above: blocks.from });
  for (const { transferId, amount, watch } of moved) {
    if (watch !== null) {
      swept += amount;
      if (!books.openSweeps.has(transferId)) begun.set(watch, (begun.get(watch) ?? 0n) + amount);
    } else if (known.has(transferId)) continue;
    else if (amount < 0n) incoming -= amount;
    else outgoing += amount;
  }
  return { begun, swept, incoming, outgoing };
}
