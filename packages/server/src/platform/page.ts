import { Fail } from './fail.ts';

export const PAGE_LIMIT_DEFAULT = 10;

export interface Page<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
  url: string;
}

/** Rows read with `limit + 1` → the page: the row too many only says that there is more. */
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

/** A `starting_after` that is unknown, foreign or of another list. */
export function unknownCursor(): Fail {
  return new Fail('invalid_request', {
    message: 'starting_after must be the id of an item of this list.',
    param: 'starting_after',
  });
}
