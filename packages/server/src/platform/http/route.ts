import type { Sort } from '@florin/contract/schemas';
import type { Scope } from '@florin/contract/scopes';
import type { Static, TObject, TSchema } from 'typebox';
import type { FailCode } from '../fail.ts';

/** Who acts: the owner of an API key, or a person who is signed in. */
export type Actor =
  | { kind: 'key'; keyId: string }
  | { kind: 'user'; userId: string; sessionId: string; permissions: readonly string[]; provedAtMs: number };

/** The sender of a correctly signed request, or of one with a session. */
export interface Caller {
  actor: Actor;
  merchantId: string;
  storeId: string;
  /** Of a person, their session: what limits of requests count by. */
  keyId: string;
  mode: 'sandbox' | 'live';
  scopes: readonly Scope[];
  /** The registered approver who owns the key, if it has an owner. */
  ownerId: string | null;
  /** People of the console who may have sent it: whoever is signed in, or was shown a secret of the key. */
  people: readonly string[];
  /** Seconds that the merchant's clock is ahead of real time: 0 for live merchants. */
  clockOffset: number;
}

export interface RouteRequest<Params, Query, Body> {
  caller: Caller;
  params: Params;
  query: Query;
  body: Body;
  /** Header `Idempotency-Key` where the route takes it; '' without one. */
  idempotencyKey: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Path and query as received. */
  url: string;
  requestId: string;
  remoteAddress: string;
}

export interface Answer<T> {
  body: T;
  /** Beside those of every answer. */
  headers?: Readonly<Record<string, string>>;
  /** The resource was made by an earlier request with the same key. */
  replayed?: boolean;
}

/** Which part of a list to read. */
export interface SliceRequest {
  limit: number;
  /** The id of an item, as `starting_after` takes it: the slice begins behind it. */
  after: string | undefined;
  /** Newest first by default. */
  sort?: Sort | undefined;
}

export interface Slice<T> {
  data: T[];
  has_more: boolean;
}

/** A list without its filters and items' types, as CSV reads it from the first slice to the last. */
export interface List {
  readonly item: TSchema;
  idOf(this: void, item: object): string;
  read(
    this: void,
    request: RouteRequest<unknown, unknown, unknown>,
    slice: SliceRequest,
  ): Promise<Slice<object>>;
}

type Shape<S> = S extends TSchema ? Static<S> : undefined;

/** One call of the API, as data: the server, the order of checks, the OpenAPI document and the tests all read it. */
export interface Route<
  P extends TObject | undefined = TObject | undefined,
  Q extends TObject | undefined = TObject | undefined,
  B extends TSchema | undefined = TSchema | undefined,
  A extends TSchema = TSchema,
> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `{name}` for parameters, as OpenAPI writes it. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  scope: Scope;
  idempotencyKey?: 'required' | 'optional';
  /** What a person must be permitted to do. A route of the API without one is for keys alone. */
  permission?: { name: string; isProofFresh?: boolean };
  /** 403 for live merchants. */
  sandboxOnly?: boolean;
  /**
   * For busy writes whose every 200, except replays, follows a synchronous commit, which flushes the nonce too. All other
   * routes flush their nonce separately, as their change may turn out to be none.
   */
  alwaysCommits?: boolean;
  params?: P;
  query?: Q;
  /** Schema of the body; an empty body is read as `{}` where the schema has no required field. */
  body?: B;
  /** Of a form of the console that takes more than its others, for whoever is signed in. */
  bodyBytesMax?: number;
  /** Runs before the shape is checked, for refusals that have a code of their own in the specification. @throws Fail */
  precheck?(body: unknown): void;
  answer: A;
  /** Of a list: answers `Accept: text/csv` as well. */
  list?: List;
  /** Codes that it may refuse with beside those of every call: for the documentation. */
  refusals: readonly FailCode[];
  handle(request: RouteRequest<Shape<P>, Shape<Q>, Shape<B>>): Promise<Answer<Static<A>>>;
}

/**
 * Gives the handler the types of the route's schemas. The pipeline validates against the same schemas before it calls the
 * handler, so the result may forget them.
 */
export function defineRoute<
  A extends TSchema,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(route: Route<P, Q, B, A>): Route;
export function defineRoute(route: Route): Route {
  return route;
}
