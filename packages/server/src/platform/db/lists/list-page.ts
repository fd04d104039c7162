import { type SelectQueryBuilder, sql } from 'kysely';
import { Fail } from '../../fail.ts';
import type { Tables } from '../db.ts';

/** Makes a page of rows read with `limit + 1`. The extra row only shows that there is more. */
export function pageOf<Row, T>(
  rows: readonly Row[],
  { limit }: { limit: number },
  present: (row: Row) => T,
): { data: T[]; has_more: boolean } {
  return { data: rows.slice(0, limit).map(present), has_more: rows.length > limit };
}

/** The error for a `starting_after` that is unknown, foreign or of another list. */
export function unknownCursor(): Fail {
  return new Fail('invalid_request', {
    message: 'starting_after must be the id of an item of this list.',
    param: 'starting_after',
  });
}

/** The row of a `starting_after`. @throws Fail if the caller may see no such row */
export async function cursorOf<Row>(
  after: string | undefined,
  find: (after: string) => Promise<Row | undefined>,
): Promise<Row | undefined> {
  if (after === undefined) return undefined;
  const row = await find(after).catch((error: unknown) => {
    throw error instanceof Fail ? unknownCursor() : error;
  });
  if (row === undefined) throw unknownCursor();
  return row;
}

/** Times of creation that a list is limited to, Unix seconds. */
export interface CreatedRange {
  from?: number | undefined;
  /** Not itself in the range. */
  before?: number | undefined;
}

/** Reads the filters `created[gte]` and `created[lt]`. @throws Fail for a range that holds no time */
export function createdRange(query: {
  'created[gte]'?: number | undefined;
  'created[lt]'?: number | undefined;
}): CreatedRange {
  const { 'created[gte]': from, 'created[lt]': before } = query;
  if (from !== undefined && before !== undefined && before <= from) {
    const message = 'created[lt] must be after created[gte].';
    throw new Fail('invalid_request', { message, param: 'created[lt]' });
  }
  return { from, before };
}

type Selection<Table extends keyof Tables, Row> = SelectQueryBuilder<Tables, Table, Row>;

const createdAt = sql.ref('created_at');

/** Limits a query to rows that were made in the range. */
export function madeWithin<Table extends keyof Tables, Row>(
  query: Selection<Table, Row>,
  { from, before }: CreatedRange,
): Selection<Table, Row> {
  const later = from === undefined ? query : query.where(sql<boolean>`${createdAt} >= ${from}`);
  return before === undefined ? later : later.where(sql<boolean>`${createdAt} < ${before}`);
}

/**
 * Rows newest first, after the cursor if there is one; up to one more than the limit.
 *
 * @param idColumn the order of rows of the same second
 */
export function newestFirst<Table extends keyof Tables, Row, Id extends keyof Row & string>(
  query: Selection<Table, Row>,
  idColumn: Id,
  { after, limit }: { after: Readonly<Record<'created_at' | Id, unknown>> | undefined; limit: number },
): Selection<Table, Row> {
  const id = sql.ref(idColumn);
  const behind =
    after === undefined
      ? query
      : query.where(sql<boolean>`(${createdAt}, ${id}) < (${after.created_at}, ${after[idColumn]})`);
  return behind
    .orderBy(createdAt, 'desc')
    .orderBy(id, 'desc')
    .limit(limit + 1);
}

/** Reads `newestFirst`. */
export async function readNewest<Table extends keyof Tables, Row, Id extends keyof Row & string>(
  ...list: Parameters<typeof newestFirst<Table, Row, Id>>
): Promise<Row[]> {
  return await newestFirst<Table, Row, Id>(...list).execute();
}
