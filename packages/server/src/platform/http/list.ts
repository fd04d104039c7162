import { SORTS, type Sort } from '@florin/contract/schemas';
import { IsArray, type Static, type TObject, type TSchema } from 'typebox';
import type { Route, RouteRequest, Slice, SliceRequest } from './route.ts';

const LIMIT_DEFAULT = 10;
const isSort = (value: unknown): value is Sort => SORTS.some((sort) => sort === value);

/** The part of a list that a validated query asks for. */
export function sliceOf(query: unknown): Partial<SliceRequest> {
  if (typeof query !== 'object' || query === null) return {};
  const limit: unknown = Reflect.get(query, 'limit');
  const after: unknown = Reflect.get(query, 'starting_after');
  const sort: unknown = Reflect.get(query, 'sort');
  return {
    ...(typeof limit === 'number' ? { limit } : {}),
    ...(typeof after === 'string' ? { after } : {}),
    ...(isSort(sort) ? { sort } : {}),
  };
}

type ShapeOf<S> = S extends TSchema ? Static<S> : undefined;
type Item<A extends TSchema> = Static<A> extends { data: readonly (infer T)[] } ? T & object : never;

interface ListDefinition<A extends TObject, P extends TObject | undefined, Q extends TObject>
  extends Pick<
    Route<P, Q>,
    'path' | 'operationId' | 'tag' | 'summary' | 'description' | 'sandboxOnly' | 'params' | 'refusals'
  > {
  query: Q;
  answer: A;
  /** The id of an item; by default its `id`. */
  idOf?: (item: Item<A>) => string;
  /** Reads up to `limit` items behind `after`. @throws Fail for an `after` that is no item of this list */
  read: (
    request: RouteRequest<ShapeOf<P>, Static<Q>, undefined>,
    slice: SliceRequest,
  ) => Promise<Slice<Item<A>>>;
}

/** A list whose schemas are forgotten, as `defineRoute` forgets them. */
interface AnyDefinition
  extends Omit<ListDefinition<TObject, undefined, TObject>, 'idOf' | 'params' | 'read'> {
  params?: TObject | undefined;
  idOf?(this: void, item: object): string;
  read(
    this: void,
    request: RouteRequest<unknown, unknown, unknown>,
    slice: SliceRequest,
  ): Promise<Slice<object>>;
}

const ownId = (item: object) => String(Reflect.get(item, 'id'));

/** Defines a list: a page of it as JSON, all of it as CSV. */
export function defineList<A extends TObject, Q extends TObject, P extends TObject | undefined = undefined>(
  list: ListDefinition<A, P, Q>,
): Route;
export function defineList({ idOf = ownId, read, ...route }: AnyDefinition): Route {
  const { data } = route.answer.properties;
  if (data === undefined || !IsArray(data)) throw new Error(`${route.operationId} answers no list`);
  return {
    ...route,
    method: 'GET',
    scope: 'read',
    handle: async (request) => {
      const slice = { limit: LIMIT_DEFAULT, after: undefined, ...sliceOf(request.query) };
      return { body: { object: 'list', ...(await read(request, slice)), url: request.url } };
    },
    list: { item: data.items, idOf, read },
  };
}
