import type { Asset, Network } from '@florin/contract/money';
import { type RawBuilder, sql } from 'kysely';
import type { Account, Balances } from '../ledger/index.ts';
import { creditedRows, paymentRows } from '../payments/books/index.ts';
import { payoutBatchRows, payoutItemRows } from '../payouts/index.ts';
import type { Db } from '../platform/db/index.ts';
import { refundRows } from '../refunds/index.ts';
import { strayRows } from '../transfers/books/index.ts';

/** The expected balance of an account, or of one per network, from the rows of the modules that book in it. */
interface AccountSources {
  /** `fees`, or `custody_hold` for `custody_hold:erc20`, `:trc20` and `:spl`. */
  account: string;
  /** What the rows sum up, for the report. */
  what: string;
  /** Each returns rows of `network` (null for accounts without one), `currency` and `amount`, which are summed. */
  sources: readonly ((merchantId: string) => RawBuilder<unknown>)[];
}

export const ACCOUNT_SOURCES: readonly AccountSources[] = [
  {
    account: 'payout_hold',
    what: 'frozen by batches',
    sources: [(m) => sql`select null, currency, frozen_amount from ${payoutBatchRows(m)} as b`],
  },
  {
    account: 'refund_hold',
    what: 'set aside by refunds',
    sources: [
      (m) =>
        sql`select null, currency, amount from ${refundRows(m)} as r where status in ('pending', 'processing')`,
    ],
  },
  {
    account: 'held',
    what: 'undecided of payments',
    sources: [
      (m) => sql`select null, currency, held_amount from ${paymentRows(m)} as p where held_amount > 0`,
      (m) => sql`select null, currency, held_amount from ${creditedRows(m)} as t`,
    ],
  },
  {
    account: 'seized',
    what: 'seized transfers that nobody has decided',
    sources: [(m) => sql`select null, currency, amount from ${creditedRows(m)} as t where is_seized`],
  },
  {
    account: 'fees',
    what: 'charged by payout items that succeeded',
    sources: [
      (m) => sql`select null, currency, fee from ${payoutItemRows(m)} as i where status = 'succeeded'`,
    ],
  },
  {
    account: 'custody_hold',
    what: 'set aside by payouts, refunds and seizures',
    sources: [
      (m) =>
        sql`select network, currency, amount from ${payoutItemRows(m)} as i where status in ('queued', 'processing')`,
      (m) => sql`select network, currency, amount from ${refundRows(m)} as r where status = 'processing'`,
      (m) => sql`select network, currency, amount from ${creditedRows(m)} as t where is_seized`,
    ],
  },
  {
    account: 'reorg_loss',
    what: 'lost_at of transactions, and what was paid against the books',
    sources: [
      (m) => sql`select network, currency, amount from ${creditedRows(m)} as t where is_lost`,
      (m) => sql`select network, currency, amount from ${strayRows(m)} as s`,
    ],
  },
];

/** The expected balances of these accounts, as of the transaction. */
export async function readSources(
  db: Db,
  merchantId: string,
  { account, sources }: AccountSources,
): Promise<Balances> {
  const { rows } = await sql<{ network: Network | null; currency: Asset; amount: string }>`
    select network, currency, sum(amount)::text as amount
    from (${sql.join(
      sources.map((source) => source(merchantId)),
      sql` union all `,
    )}) as source (network, currency, amount)
    group by network, currency`.execute(db);
  const sums = new Map<Asset, Map<Account, bigint>>();
  for (const { network, currency, amount } of rows) {
    const name = (network === null ? account : `${account}:${network}`) as Account;
    const ofCurrency = sums.get(currency) ?? new Map<Account, bigint>();
    sums.set(currency, ofCurrency.set(name, BigInt(amount)));
  }
  return sums;
}
