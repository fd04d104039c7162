import { type Asset, NETWORKS, type Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { presentBalances, readBalances } from '../../ledger/balances/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { codeOf, type Db } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import type { Period } from './period.ts';
import { reportTurns } from './turns.ts';

// What the first page of a store shows. Tables of several modules are read here and written by none; each statement goes
// along an index and is bounded: payments by the period, the rest by a count that ends. What may take long is read as reports
// are, by connections and in turns of their own.

interface Owner {
  merchantId: string;
  storeId: string;
}

const UNKNOWN_TIME_ZONE = '22023';

/** @throws Fail for a name that the database does not know */
async function inTimeZone<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) !== UNKNOWN_TIME_ZONE) throw error;
    const message = 'time_zone must be the name of a time zone, such as Europe/Madrid.';
    throw new Fail('invalid_request', { message, param: 'time_zone' });
  }
}

/** The day that it is in a time zone. @throws Fail */
export async function todayIn(db: Db, timeZone: string, nowSeconds: number): Promise<string> {
  const { rows } = await inTimeZone(
    sql<{ day: string }>`
      select to_char(to_timestamp(${nowSeconds}) at time zone ${timeZone}, 'YYYY-MM-DD') as day`.execute(db),
  );
  return rows[0]?.day ?? '';
}

/** The first second of each day of a period in a time zone, and of the day behind it. @throws Fail */
export async function daysOf(db: Db, { from, to }: Period, timeZone: string): Promise<number[]> {
  const { rows } = await inTimeZone(
    sql<{ at: string }>`
      select extract(epoch from day at time zone ${timeZone})::bigint::text as at
      from generate_series(${from}::timestamp, ${to}::timestamp + interval '1 day', interval '1 day') as day`.execute(
      db,
    ),
  );
  return rows.map(({ at }) => Number(at));
}

/** Payments of a store that were made on a day and are to be paid, or are paid, in a token. */
export interface DayRow {
  /** Of the period, from 0 on. */
  day: number;
  /** Null: nothing was chosen yet. */
  currency: Asset | null;
  /** Of checkout, and of these those that are over, and those that were paid. */
  sessions: number;
  ended: number;
  paid: number;
  /** Completed ones, of checkout or not, and what they received. */
  payments: number;
  received: bigint;
}

/**
 * What a period and the subscriptions come to.
 *
 * @param reportsDb whose statements may take a minute
 * @param reader who asks: a few at a time
 * @param days as `daysOf` has them
 * @throws Fail `rate_limited` while the reader waits for others, or very many of the merchant do
 */
export async function readFigures(
  reportsDb: Db,
  { reader, ...owner }: Owner & { reader: string },
  days: readonly number[],
): Promise<{ rows: DayRow[]; subscriptions: Recurring }> {
  return await reportTurns.run({ merchantId: owner.merchantId, reader }, async () => ({
    rows: await readDays(reportsDb, owner, days),
    subscriptions: await readRecurring(reportsDb, owner),
  }));
}

async function readDays(db: Db, { merchantId, storeId }: Owner, days: readonly number[]): Promise<DayRow[]> {
  const { rows } = await sql<Record<keyof DayRow, string> & { currency: Asset | null }>`
      select width_bucket(created_at, ${days}::bigint[]) - 1 as day,
             coalesce(chosen_currency, fixed_currency) as currency,
             count(session_id) as sessions,
             count(session_id) filter (where status in ('completed', 'failed', 'expired', 'cancelled')) as ended,
             count(session_id) filter (where status = 'completed') as paid,
             count(*) filter (where status = 'completed') as payments,
             coalesce(sum(received_amount) filter (where status = 'completed'), 0) as received
      from payment
      where merchant_id = ${merchantId} and store_id = ${storeId}
        and created_at >= ${days.at(0)} and created_at < ${days.at(-1)}
      group by 1, 2`.execute(db);
  return rows.map((row) => ({
    day: Number(row.day),
    currency: row.currency,
    sessions: Number(row.sessions),
    ended: Number(row.ended),
    paid: Number(row.paid),
    payments: Number(row.payments),
    received: BigInt(row.received),
  }));
}

/** What people have done of the first hour of a merchant: the story of a fresh sandbox is not theirs. */
export async function readFirstSteps(db: Db, { merchantId, storeId }: Owner) {
  const { rows } = await sql<Record<'key' | 'request' | 'payment' | 'webhook' | 'person', boolean>>`
    with story as (select coalesce((select (value #>> '{}')::bigint from setting
      where merchant_id = ${merchantId} and name = 'sandbox.story_until'), 0) as until)
    select
      exists (select from api_key where merchant_id = ${merchantId} and store_id = ${storeId}) as key,
      exists (select from api_key, story where merchant_id = ${merchantId} and store_id = ${storeId}
        and last_used_at_ms >= (until + 1) * 1000) as request,
      exists (select from payment, story where merchant_id = ${merchantId} and store_id = ${storeId}
        and status = 'completed' and coalesce(completed_at, created_at) > until) as payment,
      exists (select from webhook_endpoint, story where merchant_id = ${merchantId} and store_id = ${storeId}
        and created_at > until) as webhook,
      (select count(*) from console_membership where merchant_id = ${merchantId}) > 1 as person`.execute(db);
  const [row] = rows;
  return row ?? { key: false, request: false, payment: false, webhook: false, person: false };
}

/** Months in which a subscription of an interval is billed so and so often: `times` in `months`. */
const BILLED = {
  day: { times: 365n, months: 12n },
  week: { times: 52n, months: 12n },
  month: { times: 1n, months: 1n },
  year: { times: 1n, months: 12n },
} as const;

/** More subscriptions are not counted: the page says so. */
export const SUBSCRIPTIONS_MAX = 100_000;

/** What active subscriptions bring in a month, in the smallest unit, and how many there are of each status. */
interface Recurring {
  active: number;
  trialing: number;
  past_due: number;
  monthly: { currency: string; amount: number }[];
  /** All are counted, which are at most `SUBSCRIPTIONS_MAX`. */
  is_whole: boolean;
}

async function readRecurring(db: Db, { merchantId, storeId }: Owner): Promise<Recurring> {
  const { rows } = await sql<{
    status: string;
    currency: string;
    interval: keyof typeof BILLED;
    count: string;
    amount: string;
  }>`
    select status, currency, "interval", count(*)::text as count, sum(amount)::text as amount from (
      select status, currency, "interval", amount from subscription
      where merchant_id = ${merchantId} and store_id = ${storeId} and status in ('active', 'trialing', 'past_due')
      limit ${sql.lit(SUBSCRIPTIONS_MAX + 1)}
    ) as counted
    group by 1, 2, 3`.execute(db);
  const countOf = (status: string) =>
    rows.filter((row) => row.status === status).reduce((sum, { count }) => sum + Number(count), 0);
  const active = Map.groupBy(
    rows.filter(({ status }) => status === 'active'),
    ({ currency }) => currency,
  );
  const monthly = ({ interval, amount }: (typeof rows)[number]) =>
    (BigInt(amount) * BILLED[interval].times) / BILLED[interval].months;
  return {
    active: countOf('active'),
    trialing: countOf('trialing'),
    past_due: countOf('past_due'),
    is_whole: rows.reduce((sum, { count }) => sum + Number(count), 0) <= SUBSCRIPTIONS_MAX,
    monthly: [...active].map(([currency, some]) => ({
      currency,
      amount: Number(some.reduce((sum, one) => sum + monthly(one), 0n)),
    })),
  };
}

/** More are not counted: the page says so. */
export const COUNTED_MAX = 1_000;

/** How the webhooks of a store do. */
export async function readWebhookHealth(db: Db, { merchantId, storeId }: Owner) {
  const undelivered = (status: string) => sql`(select count(*) from (
    select from delivery where merchant_id = ${merchantId} and store_id = ${storeId} and status = ${sql.lit(status)}
    limit ${sql.lit(COUNTED_MAX)}) as counted)::integer`;
  const { rows } = await sql<
    Record<'endpoints' | 'disabled' | 'failing' | 'pending' | 'paused' | 'failed' | 'exhausted', number>
  >`
    select count(*)::integer as endpoints,
           count(*) filter (where status = 'disabled')::integer as disabled,
           count(*) filter (where status = 'enabled' and failing_since_ms is not null)::integer as failing,
           ${undelivered('pending')} as pending, ${undelivered('paused')} as paused,
           ${undelivered('failed')} as failed, ${undelivered('exhausted')} as exhausted
    from webhook_endpoint where merchant_id = ${merchantId} and store_id = ${storeId}`.execute(db);
  const [row] = rows;
  return row ?? { endpoints: 0, disabled: 0, failing: 0, pending: 0, paused: 0, failed: 0, exhausted: 0 };
}

/** What of the merchant is stopped on each network, by itself or with everybody's. */
export async function readNetworks(db: Db, { merchantId }: Owner) {
  const { rows } = await sql<{ network: Network; what: 'sending' | 'early_credit'; stopped_at: string }>`
    select network, what, min(stopped_at)::text as stopped_at from network_stop
    where merchant_id in (${merchantId}, ${NIL_ID}) group by 1, 2`.execute(db);
  const { rows: scans } = await sql<{ network: Network; read_at: string }>`
    select network, read_at::text as read_at from deposit_cursor where merchant_id = ${merchantId}`.execute(
    db,
  );
  return NETWORKS.map((network) => ({
    network,
    stops: rows
      .filter((row) => row.network === network)
      .map(({ what, stopped_at }) => ({ what, stopped_at: Number(stopped_at) })),
    read_at: Number(scans.find((row) => row.network === network)?.read_at ?? 0) || null,
  }));
}

/** What the whole merchant may spend, and what is held back, in the smallest unit. */
export async function readHoldings(db: Db, { merchantId }: Owner) {
  const { data } = presentBalances(await readBalances(db, merchantId));
  return data.map(({ currency, available, held, payout_hold, refund_hold, seized }) => ({
    currency,
    available,
    held,
    payout_hold,
    refund_hold,
    seized,
  }));
}
