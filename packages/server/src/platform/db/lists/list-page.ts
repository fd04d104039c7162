import type { Sort } from '@florin/contract/schemas';
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

/** A part of a list: what comes after a row of it, and how much. */
export interface Page<Cursor> {
  after?: Cursor | undefined;
  limit: number;
  /** Newest first by default. */
  sort?: Sort | undefined;
}

/** Rows in the order of columns that grow with time, after the cursor if there is one; up to one more than the limit. */
export function inOrder<Table extends keyof Tables, Row, Column extends string>(
  query: Selection<Table, Row>,
  columns: readonly Column[],
  { after, limit, sort = '-created' }: Page<Readonly<Record<Column, unknown>>>,
): Selection<Table, Row> {
  const [direction, comes] = sort === 'created' ? (['asc', '>'] as const) : (['desc', '<'] as const);
  const own = sql.join(columns.map((column) => sql.ref(column)));
  const behind =
    after === undefined
      ? query
      : query.where(
          sql<boolean>`(${own}) ${sql.raw(comes)} (${sql.join(columns.map((column) => after[column]))})`,
        );
  let ordered = behind;
  for (const column of columns) ordered = ordered.orderBy(sql.ref(column), direction);
  return ordered.limit(limit + 1);
}

/**
 * Rows in the order in which they were made, as `inOrder`.
 *
 * @param idColumn the order of rows of the same second
 */
export function byCreation<Table extends keyof Tables, Row, Id extends keyof Row & string>(
  query: Selection<Table, Row>,
  idColumn: Id,
  page: Page<Readonly<Record<'created_at' | Id, unknown>>>,
): Selection<Table, Row> {
  return inOrder(query, ['created_at', idColumn], page);
}

/** Reads `byCreation`. */
export async function readByCreation<Table extends keyof Tables, Row, Id extends keyof Row & string>(
  ...list: Parameters<typeof byCreation<Table, Row, Id>>
): Promise<Row[]> {
  return await byCreation<Table, Row, Id>(...list).execute();
}
