import { type SelectQueryBuilder, sql } from 'kysely';
import { Fail } from '../fail.ts';
import type { Tables } from './db.ts';

export const PAGE_LIMIT_DEFAULT = 10;

export interface Page<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
  url: string;
}

/** Makes a page of rows read with `limit + 1`. The extra row only shows that there is more. */
export function pageOf<Row, T>(
  rows: readonly Row[],
  page: { limit: number; url: string },
  present: (row: Row) => T,
): Page<T> {
  return {
    object: 'list',
    data: rows.slice(0, page.limit).map(present),
    has_more: rows.length > page.limit,
    url: page.url,
  };
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

/**
 * Reads rows newest first, after the cursor if there is one; up to one more than the limit.
 *
 * @param idColumn the order of rows of the same second
 */
export async function readNewest<Table extends keyof Tables, Row, Id extends keyof Row & string>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  idColumn: Id,
  { after, limit }: { after: Readonly<Record<'created_at' | Id, unknown>> | undefined; limit: number },
): Promise<Row[]> {
  const [created, id] = [sql.ref('created_at'), sql.ref(idColumn)];
  const behind =
    after === undefined
      ? query
      : query.where(sql<boolean>`(${created}, ${id}) < (${after.created_at}, ${after[idColumn]})`);
  return await behind
    .orderBy(created, 'desc')
    .orderBy(id, 'desc')
    .limit(limit + 1)
    .execute();
}
