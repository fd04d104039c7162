import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../platform/db/index.ts';

// A comparison is one statement over two records of the same amounts. It returns a row per resource; the differing amounts
// of differing rows are reported. The database compares, so the process holds only differences, however large the ledger.
// All statements read one snapshot, so everything that one transaction writes agrees. What is written in a later transaction
// (an item after its transfer, an invoice after its payment) is compared only once it is written.

export interface Comparison {
  /** The compared records, for the report. */
  name: string;
  /** The name of a row's resource in reports. */
  resource(id: string): string;
  /** The names of the compared amounts, in the order of the arrays. */
  amounts: readonly string[];
  /** Columns: the resource's `id`, `currency`, and two arrays of expected and found amounts (smallest unit). */
  rows(merchantId: string): RawBuilder<unknown>;
}

/** A difference. Amounts are in the smallest unit. */
export interface Deviation {
  currency: string;
  /** The resource; null: an account or a chain. */
  resource: string | null;
  what: string;
  expected: bigint;
  found: bigint;
}

/** Reported per comparison; the rest is only counted. */
const REPORTED_MAX = 100;

export interface Deviations {
  reported: Deviation[];
  /** Including unreported ones. */
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

/** An array column of amounts; null becomes 0. */
export const amounts = (...values: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql`array[${sql.join(values.map((value) => sql`coalesce(${value}, 0)::bigint`))}]`;

/** Runs a comparison, as of the transaction. */
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
