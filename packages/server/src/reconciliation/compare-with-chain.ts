import { ASSETS, type Asset, type Network } from '@florin/contract/money';
import type { Chain, ChainRegistry } from '../chains/index.ts';
import { type DepositBooks, readDepositBooks, sumPulled } from '../checkout/index.ts';
import { type Balances, coinsOn, readBalances, sumOfEntries } from '../ledger/index.ts';
import type { Db } from '../platform/db.ts';
import type { Merchant } from '../stores/index.ts';
import { listUnsettled, paidByTransfers, signedOf } from '../transfers/index.ts';

// The books are read as of one moment, then the chain as of one final block that is newer. Whatever the books call paid
// was final before, so it is in that block; what they do not call decided is asked about and counted up to that block;
// and what begins after the books were read cannot be final yet. So money that moves meanwhile makes no difference.

export interface Place {
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
  /** Paid by transfers, less what charges brought, and not yet booked by their owners. */
  unbooked: ReadonlyMap<Asset, bigint>;
  undecided: Awaited<ReturnType<typeof listUnsettled>>;
  deposits: DepositBooks;
}

/** What the books expect of a currency in a network's final blocks, and what lies there. */
export interface Standing extends ChainDifference {
  /** What of `expected` is the operator's own; below zero, what a reorganisation took away. */
  float: bigint;
}

/** @throws ChainUnavailable; Fail where the installation has no node for the network */
export async function compareWithChain(
  deps: { db: Db; chains: ChainRegistry },
  place: Place,
): Promise<ChainDifference[]> {
  const standings = await readStandings(deps, place);
  return standings
    .filter(({ expected, found }) => expected !== found)
    .map(({ currency, what, expected, found }) => ({ currency, what, expected, found }));
}

/** One of each currency. @throws as `compareWithChain` */
export async function readStandings(
  deps: { db: Db; chains: ChainRegistry },
  { merchant, network }: Place,
): Promise<Standing[]> {
  const chain = deps.chains.of(merchant, network);
  const sender = await chain.sender('hot');
  const books = await readBooks(deps.db, { merchant, network });
  const { addresses } = books.deposits;
  const { height, found } = await readFinal(chain, [sender, ...addresses]);
  const paid = await paidUpTo(chain, books, height);
  const arrived = await arrivedUpTo(chain, books.deposits, height);
  const others = addresses.length === 0 ? '' : ` and ${addresses.length} deposit addresses`;
  const what = `custody on ${network}: balance of ${sender}${others} on the chain`;
  return ASSETS.map((currency) => {
    const unbooked = (books.unbooked.get(currency) ?? 0n) + (paid.get(currency) ?? 0n);
    // The operator's own lie there too: what was kept of seizures and filled up; below zero, what is missing.
    const float = books.balances.get(currency)?.get(`float:${network}`) ?? 0n;
    const credited = coinsOn(books.balances.get(currency), network) + float;
    const expected = credited - unbooked + (arrived.get(currency) ?? 0n);
    return { currency, what, expected, found: found.get(currency) ?? 0n, float };
  });
}

async function readBooks(db: Db, { merchant, network }: Place): Promise<Books> {
  const { merchantId } = merchant;
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const unbooked = new Map<Asset, bigint>();
      for (const currency of ASSETS) {
        const paid = await paidByTransfers(tx, merchantId, { network, currency });
        const coins = { credit: `custody_hold:${network}`, currency } as const;
        const batches = await sumOfEntries(tx, merchantId, { ...coins, debit: 'payout_hold' });
        const refunds = await sumOfEntries(tx, merchantId, { ...coins, debit: 'refund_hold' });
        const pulled = await sumPulled(tx, merchantId, { network, currency });
        unbooked.set(currency, paid + pulled - batches - refunds);
      }
      const undecided = await listUnsettled(tx, merchantId, network);
      const deposits = await readDepositBooks(tx, merchantId, network);
      return { balances: await readBalances(tx, merchantId), unbooked, undecided, deposits };
    });
}

/** Balances as of one final block: read again where a further block became final between them. */
async function readFinal(
  chain: Chain,
  addresses: readonly string[],
): Promise<{ height: bigint; found: Map<Asset, bigint> }> {
  for (;;) {
    const found = new Map<Asset, bigint>();
    const heights = new Set<bigint>();
    for (const currency of ASSETS) {
      const { height, balances } = await chain.balances(addresses, currency, 'final');
      heights.add(height);
      const sum = [...balances.values()].reduce((total, balance) => total + balance, 0n);
      found.set(currency, sum);
    }
    const [height, ...others] = heights;
    if (height !== undefined && others.length === 0) return { height, found };
  }
}

/** What has arrived in final blocks up to that one and is not credited yet. */
async function arrivedUpTo(chain: Chain, books: DepositBooks, height: bigint): Promise<Map<Asset, bigint>> {
  const arrived = new Map<Asset, bigint>();
  if (books.watch.length === 0) return arrived;
  for (let { cursor } = books, complete = false; !complete; ) {
    const page = await chain.scan({ level: 'final', cursor, watch: books.watch, upTo: height });
    for (const { asset, txId, index, amount } of page.transfers) {
      if (asset === null || books.credited.has(`${txId}/${index}`)) continue;
      arrived.set(asset, (arrived.get(asset) ?? 0n) + amount);
    }
    ({ cursor, complete } = page);
  }
  return arrived;
}

/** What undecided transactions have paid up to a block. */
async function paidUpTo(chain: Chain, { undecided }: Books, height: bigint): Promise<Map<Asset, bigint>> {
  const paid = new Map<Asset, bigint>();
  for (const attempt of undecided) {
    const status = await chain.status(signedOf(attempt));
    if (status.state !== 'final' || status.height === undefined || status.height > height) continue;
    const amounts = attempt.amounts.filter((_, i) => status.itemOk?.[i] ?? true);
    const sum = amounts.reduce((total, amount) => total + amount, 0n);
    paid.set(attempt.currency, (paid.get(attempt.currency) ?? 0n) + sum);
  }
  return paid;
}
