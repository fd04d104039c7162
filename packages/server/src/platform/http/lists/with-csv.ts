import { IsArray, IsObject } from 'typebox';
import { invariant } from '../../fail.ts';
import type { Route } from '../route.ts';

interface Page {
  data: object[];
  has_more?: boolean;
}

/**
 * A list of the console that answers `Accept: text/csv` as well: all that fits its filter.
 *
 * @param cursor the fields of a row that make its `starting_after`, where the list has pages
 */
export function withCsv(route: Route, ...cursor: readonly string[]): Route {
  const { answer } = route;
  const data = IsObject(answer) ? answer.properties.data : undefined;
  invariant(data !== undefined && IsArray(data), `${route.operationId} answers no list`);
  return {
    ...route,
    list: {
      item: data.items,
      idOf: (row) => cursor.map((field) => String(Reflect.get(row, field))).join(' '),
      read: async (request, { limit, after }) => {
        const query = { ...Object(request.query), limit, starting_after: after };
        const { body } = await route.handle({ ...request, query } as Parameters<Route['handle']>[0]);
        const { data: rows, has_more: hasMore = false } = body as Page;
        return { data: rows, has_more: hasMore };
      },
    },
  };
}
