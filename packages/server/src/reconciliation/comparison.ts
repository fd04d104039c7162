import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../platform/db/index.ts';

// A comparison is one statement over two things that must say the same of money: it answers a row for each resource that
// is compared, and of those that differ the amounts that differ are reported. The database compares, so that a report of a whole ledger costs this
// process what differs and not what is there. Statements read one snapshot in which every change is whole, so whatever
// one transaction writes in several places agrees; what follows in a transaction of its own (an item after its transfer,
// an invoice after its payment) is compared only where it is written.

export interface Comparison {
  /** What is compared with what. */
  name: string;
  /** What a row is about, as people name it. */
  resource(id: string): string;
  /** The amounts that are compared of each, in the order of the columns. */
  amounts: readonly string[];
  /** Columns: `id` of the resource, `currency`, and what its amounts should be and are, in two arrays (smallest units). */
  rows(merchantId: string): RawBuilder<unknown>;
}

/** One thing that does not agree. Amounts are in the smallest unit. */
export interface Deviation {
  currency: string;
  /** What it is about; null: an account or a chain. */
  resource: string | null;
  what: string;
  expected: bigint;
  found: bigint;
}

/** Reported of one comparison; how many more there are is counted. */
const REPORTED_MAX = 100;

export interface Deviations {
  reported: Deviation[];
  /** All of them, reported or not. */
  total: number;
}

interface Row {
  id: string;
  what: string;
  currency: string;
  expected: string;
  found: string;
  total: number;
}

/** Amounts as a column of a comparison; what is null is 0. */
export const amounts = (...values: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql`array[${sql.join(values.map((value) => sql`coalesce(${value}, 0)::bigint`))}]`;

/** What differs, as of the transaction. */
export async function findDeviations(
  db: Db,
  merchantId: string,
  comparison: Comparison,
): Promise<Deviations> {
  const { rows } = await sql<Row>`
    select id::text, a.what, currency, a.expected::text, a.found::text, (count(*) over ())::int as total
    from (${comparison.rows(merchantId)}) as compared (id, currency, expected, found),
      unnest(${comparison.amounts}::text[], expected, found) as a (what, expected, found)
    where compared.expected <> compared.found and a.expected <> a.found
    order by id, a.what
    limit ${REPORTED_MAX}`.execute(db);
  const reported = rows.map(({ id, what, currency, expected, found }) => {
    const resource = comparison.resource(id);
    return {
      currency,
      resource,
      what: `${resource}: ${what}`,
      expected: BigInt(expected),
      found: BigInt(found),
    };
  });
  return { reported, total: rows[0]?.total ?? 0 };
}
