import type { Static, TObject, TSchema } from 'typebox';
import {
  defineRoute,
  type List,
  type Route,
  type RouteRequest,
  type Slice,
  type SliceRequest,
} from './route.ts';

const LIMIT_DEFAULT = 10;

interface ListAnswer<T> extends Slice<T> {
  object: 'list';
  url: string;
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

/** Defines a list: a page of it as JSON, all of it as CSV. */
export function defineList<A extends TObject, Q extends TObject, P extends TObject | undefined = undefined>(
  list: ListDefinition<A, P, Q>,
): Route {
  const { idOf = (item: Item<A>) => String(Reflect.get(item, 'id')), read, ...route } = list;
  const answers = async (
    request: RouteRequest<ShapeOf<P>, Static<Q>, undefined>,
  ): Promise<ListAnswer<Item<A>>> => {
    const { limit = LIMIT_DEFAULT, starting_after: after } = request.query as Partial<
      Record<'limit', number> & Record<'starting_after', string>
    >;
    return { object: 'list', ...(await read(request, { limit, after })), url: request.url };
  };
  const defined = defineRoute<A, P, Q>({
    ...route,
    method: 'GET',
    scope: 'read',
    handle: async (request) => ({ body: (await answers(request as never)) as Static<A> }),
  } as Route<P, Q, undefined, A>);
  const { data } = list.answer.properties as { data?: { items?: TSchema } };
  if (data?.items === undefined) throw new Error(`${list.operationId} answers no list`);
  // Requests are validated against the same schemas before they reach `read`, so the widening is sound.
  return { ...defined, list: { item: data.items, idOf, read } as unknown as List };
}
