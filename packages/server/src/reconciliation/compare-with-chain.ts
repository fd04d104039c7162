import { ASSETS, type Asset, type Network } from '@florin/contract/money';
import type { ChainRegistry } from '../chains/index.ts';
import type { Chain, ChainTransfer } from '../chains/port/index.ts';
import { readBalances, sumOfEntries } from '../ledger/balances/index.ts';
import { type Balances, coinsOn } from '../ledger/index.ts';
import { type DepositBooks, readDepositBooks } from '../payments/books/index.ts';
import { totalOf } from '../platform/amounts.ts';
import type { Db } from '../platform/db/index.ts';
import type { Merchant } from '../stores/index.ts';
import { readDeciding } from '../transfers/attempts/index.ts';
import { listUnsettled, sumPaidByTransfers } from '../transfers/books/index.ts';
import { compareCoins, type DepositCoins } from './compare-coins.ts';
import { type ExpectedCoins, expectedAtDeposits } from './deposit-coins.ts';
import {
  type ByAddress,
  blocksOf,
  type Found,
  type FoundCoins,
  foundOf,
  isSpread,
  newestOf,
  readFinal,
  readTogether,
} from './found-coins.ts';
import { listMovedSince, listOpenSweeps, type MovedTransfer } from './moved-since.ts';

// Reads the books as of one snapshot, then the chain as of one newer final block. Everything paid in the books was final
// before, so that block contains it. The status of undecided transactions is read from the chain up to that block. Whatever
// begins after the snapshot cannot be final yet. So concurrent movements make no difference. A lagging node may report a
// charge as undecided although its balance includes the coins: these are no surplus.
// Some networks show many balances as of several blocks. Then what moved in these may be seen or not, and reading may take so long
// that what began after the snapshot is among it: the transfers of ours that may be in them are read from the books once more, and the
// addresses that they have moved at once more from the chain, at once (`found-coins.ts`).

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
  /** As much may be missing besides, as it may be what moved while the balances were read. */
  hidden: bigint;
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
  const { found, moved, transfers, unread } = await readChain(
    { db: deps.db, chain },
    { merchant, network },
    { books, wallets },
  );
  const { paid, incoming, outgoing } = await paidUpTo(chain, books, { found, hot: sender });
  // Coins that are credited and not in final blocks yet count against those that are there and not credited yet.
  const arrived = withoutEarly(
    { ...arrivedIn(transfers, books.deposits, found), unread },
    books.deposits.early,
    found,
  );
  const comparisons: ChainComparison[] = [];
  for (const currency of ASSETS) {
    const held = foundOf(found, currency);
    const since = movedSince(books, held, moved.get(currency) ?? []);
    const unbooked = (books.unbooked.get(currency) ?? 0n) + (paid.get(currency) ?? 0n);
    // Includes the operator's coins (kept seizures, fills); negative if a reorganisation took some.
    const float = books.balances.get(currency)?.get(`float:${network}`) ?? 0n;
    const credited = coinsOn(books.balances.get(currency), network) + float;
    const deposits = depositsOf(books, currency, { held, arrived, since });
    const { mismatches, surplus, hidden } = compareCoins({
      expected: credited - unbooked + sumOf(arrived.before.get(currency)),
      hot: {
        address: sender,
        // Rotated ones are the merchant's as well.
        found: sumAt(held.coins, wallets),
        incoming: (incoming.get(currency) ?? 0n) + since.incoming,
        outgoing: (outgoing.get(currency) ?? 0n) + since.outgoing,
        moving: held.together === undefined ? since.betweenWallets : 0n,
      },
      deposits,
    });
    const differences = mismatches.map(({ address, ...amounts }) => {
      const what = `custody on ${network}: balance of ${address} on the chain`;
      return { currency, what, ...amounts };
    });
    const beyond = deposits.flatMap(({ address, isUnread }) => (isUnread ? [address] : []));
    comparisons.push({ currency, differences, surplus, hidden, wallet: sender, float, unread: beyond });
  }
  return comparisons;
}

/** What the chain shows, and what transfers of ours may have moved meanwhile. */
interface ChainReading {
  found: Found;
  /** Of currencies whose balances are as of several blocks. */
  moved: ReadonlyMap<Asset, readonly MovedTransfer[]>;
  /** To deposit addresses, up to the newest block of these balances, since the last scan. */
  transfers: readonly ChainTransfer[];
  /** `ScanAnswer.unread`: of these addresses there may be more. */
  unread: ReadonlySet<string>;
}

async function readChain(
  { db, chain }: { db: Db; chain: Chain },
  { merchant, network }: MerchantNetwork,
  { books, wallets }: { books: Books; wallets: readonly string[] },
): Promise<ChainReading> {
  const { addresses, watch } = books.deposits;
  const found = await readFinal(chain, [...wallets, ...addresses]);
  const first = await scanUpTo(chain, books.deposits, newestOf(found));
  const moved = new Map<Asset, readonly MovedTransfer[]>();
  const addressOf = new Map(watch.map((one, i) => [one, addresses[i] ?? '']));
  for (const currency of ASSETS) {
    const held = foundOf(found, currency);
    if (!isSpread(held.blocks)) continue;
    const { from } = held.blocks;
    const came = first.transfers.filter(({ asset, height }) => asset === currency && height > from);
    const listMoved = async () => {
      const { merchantId } = merchant;
      const since = await listMovedSince(db, { merchantId, network }, { currency, above: from });
      moved.set(currency, since);
      const swept = since.flatMap((one) => addressOf.get(one.watch ?? '') ?? []);
      return [...swept, ...came.map(({ to }) => to)];
    };
    found.set(currency, await readTogether(chain, { currency, found: held, wallets }, listMoved));
  }
  const again = new Set([...found.values()].flatMap(({ together }) => [...(together?.addresses ?? [])]));
  const watchAgain = watch.filter((_, i) => again.has(addresses[i] ?? ''));
  const { cursor } = first;
  const second = await scanUpTo(chain, { cursor, watch: watchAgain }, newestOf(found));
  return {
    found,
    moved,
    transfers: [...first.transfers, ...second.transfers],
    unread: new Set([...first.unread, ...second.unread]),
  };
}

const sumOf = (amounts: ByAddress | undefined) => totalOf([...(amounts?.values() ?? [])]);

const sumAt = (coins: ByAddress, addresses: readonly string[]) =>
  addresses.reduce((sum, address) => sum + (coins.get(address) ?? 0n), 0n);

/** Found and expected coins of each deposit address. */
function depositsOf(
  { deposits, deposited }: Books,
  currency: Asset,
  { held, arrived, since }: { held: FoundCoins; arrived: Arrived; since: MovedSince },
): (DepositCoins & { isUnread: boolean })[] {
  const expected = new Map(
    deposited.filter((one) => one.currency === currency).map((one) => [one.address, one]),
  );
  return deposits.addresses.map((address, i) => {
    const { min: booked = 0n, max = 0n } = expected.get(address) ?? {};
    const uncredited = arrived.before.get(currency)?.get(address) ?? 0n;
    const swept = since.begun.get(deposits.watch[i] ?? '') ?? 0n;
    const least = booked + uncredited;
    const most = max + uncredited;
    const found = held.coins.get(address) ?? 0n;
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
      moving: isSpread(blocksOf(held, address)) ? (since.swept.get(deposits.watch[i] ?? '') ?? 0n) : 0n,
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

type BySide = Map<Asset, Map<string, bigint>>;

/** Coins at deposit addresses that are not credited: in blocks before those of the balances, and within them. */
interface Arrived {
  before: BySide;
  within: BySide;
  unread: ReadonlySet<string>;
}

function addTo(side: BySide, currency: Asset, address: string, amount: bigint): void {
  const ofAsset = side.get(currency) ?? new Map<string, bigint>();
  side.set(currency, ofAsset.set(address, (ofAsset.get(address) ?? 0n) + amount));
}

/** Looks at a node that has not reached the blocks of the balances, with a pause between them. */
const LOOKS_MAX = 5;
const LOOK_AGAIN_MS = 300;

/** All transfers to these addresses in final blocks after the cursor, up to that block. */
async function scanUpTo(
  chain: Chain,
  { cursor: after, watch }: Pick<DepositBooks, 'cursor' | 'watch'>,
  upTo: bigint,
) {
  const transfers: ChainTransfer[] = [];
  const unread = new Set<string>();
  let cursor = after;
  for (let looks = 0; watch.length > 0 && looks < LOOKS_MAX; ) {
    const page = await chain.scan({ level: 'final', cursor, watch, upTo, isCheck: true });
    transfers.push(...page.transfers);
    for (const one of page.unread ?? []) unread.add(one);
    ({ cursor } = page);
    if (!page.complete) continue;
    if (page.head.finalHeight >= upTo) break;
    looks += 1;
    if (looks < LOOKS_MAX) await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return { transfers, cursor, unread };
}

/** Transfers that are not credited yet, summed by address. */
function arrivedIn(
  transfers: readonly ChainTransfer[],
  { credited }: DepositBooks,
  found: Found,
): Pick<Arrived, 'before' | 'within'> {
  const arrived = { before: new Map(), within: new Map() };
  for (const { asset, txId, index, amount, to: address, height } of transfers) {
    if (asset === null || credited.has(`${txId}/${index}`)) continue;
    const { from, to } = blocksOf(foundOf(found, asset), address);
    if (height <= from) addTo(arrived.before, asset, address, amount);
    else if (height <= to) addTo(arrived.within, asset, address, amount);
  }
  return arrived;
}

function withoutEarly(arrived: Arrived, early: DepositBooks['early'], found: Found): Arrived {
  for (const { address, currency, amount, height } of early) {
    const { from, to } = blocksOf(foundOf(found, currency), address);
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
async function paidUpTo(chain: Chain, { undecided }: Books, { found, hot }: { found: Found; hot: string }) {
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
    const { from, to } = blocksOf(foundOf(found, currency), hot);
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

/** What transfers of ours may have moved within the blocks of the balances. */
interface MovedSince {
  /** By sweeps, and by those after the snapshot, by watched address. */
  swept: ByAddress;
  begun: ByAddress;
  betweenWallets: bigint;
  /** By what began after the snapshot: to the hot wallet, and out of it. */
  incoming: bigint;
  outgoing: bigint;
}

/** Transfers that the snapshot knows as undecided are left to `paidUpTo`, as they are read from the chain. */
function movedSince(books: Books, { blocks }: FoundCoins, moved: readonly MovedTransfer[]): MovedSince {
  const [swept, begun] = [new Map<string, bigint>(), new Map<string, bigint>()];
  let [betweenWallets, incoming, outgoing] = [0n, 0n, 0n];
  if (!isSpread(blocks)) return { swept, begun, betweenWallets, incoming, outgoing };
  const known = new Set(books.undecided.flatMap(({ itemIds }) => itemIds));
  const add = (sums: Map<string, bigint>, watch: string, amount: bigint) =>
    sums.set(watch, (sums.get(watch) ?? 0n) + amount);
  for (const { transferId, amount, watch } of moved) {
    if (watch === '') betweenWallets += amount;
    else if (watch !== null) {
      add(swept, watch, amount);
      if (!books.openSweeps.has(transferId)) add(begun, watch, amount);
    } else if (known.has(transferId)) continue;
    else if (amount < 0n) incoming -= amount;
    else outgoing += amount;
  }
  return { swept, begun, betweenWallets, incoming, outgoing };
}
