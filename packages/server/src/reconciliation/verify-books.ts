import { ASSETS, type Asset } from '@florin/contract/money';
import { sql } from 'kysely';
import { readBalances, recomputeBalances } from '../ledger/balances/index.ts';
import { type Account, type Balances, imbalance } from '../ledger/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { ACCOUNT_SOURCES, readSources } from './account-sources.ts';
import { BILLING_COMPARISONS } from './billing-comparisons.ts';
import { type Comparison, type Deviation, findDeviations } from './comparison.ts';
import { PAYMENT_COMPARISONS } from './payment-comparisons.ts';
import { PAYOUT_COMPARISONS } from './payout-comparisons.ts';
import { REFUND_COMPARISONS } from './refund-comparisons.ts';

/** All comparisons of resources; those of accounts are `ACCOUNT_SOURCES`. */
const COMPARISONS: readonly Comparison[] = [
  ...PAYOUT_COMPARISONS,
  ...PAYMENT_COMPARISONS,
  ...REFUND_COMPARISONS,
  ...BILLING_COMPARISONS,
];

/** PostgreSQL's `work_mem` per sort and join: a million rows then write few temporary files. */
const SORT_MEMORY = '64MB';

export interface BooksReport {
  checks: number;
  deviations: Deviation[];
  /** Further deviations that are only counted. */
  omitted: number;
  balances: Balances;
}

/** Verifies a merchant's books inside the database, as of one snapshot. */
export async function verifyBooks(db: Db, merchantId: string): Promise<BooksReport> {
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql`set local work_mem = ${sql.lit(SORT_MEMORY)}`.execute(tx);
      return await compareBooks(tx, merchantId);
    });
}

/** The same in a given transaction, which must read one snapshot. */
export async function compareBooks(tx: Tx, merchantId: string): Promise<BooksReport> {
  const balances = await readBalances(tx, merchantId);
  const checked = checkBalances(balances, await recomputeBalances(tx, merchantId));
  for (const source of ACCOUNT_SOURCES) {
    const sums = await readSources(tx, merchantId, source);
    checked.push(...checkSource(source, sums, balances));
  }
  const deviations = checked.filter(({ expected, found }) => expected !== found);
  let omitted = 0;
  for (const comparison of COMPARISONS) {
    const { reported, total } = await findDeviations(tx, merchantId, comparison);
    deviations.push(...reported);
    omitted += total - reported.length;
  }
  return { checks: checked.length + COMPARISONS.length, deviations, omitted, balances };
}

const ofAccount = (currency: Asset, what: string, expected = 0n, found = 0n): Deviation => ({
  currency,
  resource: null,
  what,
  expected,
  found,
});

/** Compares every balance with its entries, and liabilities with custody. */
function checkBalances(stored: Balances, recomputed: Balances): Deviation[] {
  return ASSETS.flatMap((currency) => {
    const balances = stored.get(currency) ?? new Map<Account, bigint>();
    const entries = recomputed.get(currency) ?? new Map<Account, bigint>();
    const accounts = [...new Set([...balances.keys(), ...entries.keys()])];
    return [
      ...accounts.map((account) =>
        ofAccount(currency, `${account}: sum of its entries`, entries.get(account), balances.get(account)),
      ),
      ofAccount(currency, 'what is owed against what lies on the networks', 0n, imbalance(balances)),
    ];
  });
}

function checkSource(
  { account: kind, what }: (typeof ACCOUNT_SOURCES)[number],
  sums: Balances,
  stored: Balances,
): Deviation[] {
  return ASSETS.flatMap((currency) => {
    const [expected, balances] = [sums.get(currency), stored.get(currency)];
    const accounts = new Set([...(expected?.keys() ?? []), ...(balances?.keys() ?? [])]);
    return [...accounts]
      .filter((account) => account.split(':', 1)[0] === kind)
      .map((account) =>
        ofAccount(currency, `${account}: ${what}`, expected?.get(account), balances?.get(account)),
      );
  });
}
