import type { Static, TObject, TSchema } from 'typebox';
import type { FailCode } from '../fail.ts';

export const SCOPES = ['read', 'write', 'payouts', 'refunds'] as const;
export type Scope = (typeof SCOPES)[number];

/** Who sent a rightly signed request. */
export interface Caller {
  merchantId: string;
  storeId: string;
  keyId: string;
  mode: 'sandbox' | 'live';
  scopes: readonly Scope[];
  /** The registered approver who owns the key, if it has an owner. */
  ownerId: string | null;
  /** Seconds that the merchant's clock is ahead of real time: 0 for live merchants. */
  clockOffset: number;
}

export interface RouteRequest<Params, Query, Body> {
  caller: Caller;
  params: Params;
  query: Query;
  body: Body;
  /** Header `Idempotency-Key` where the route takes it, '' where there is none. */
  idempotencyKey: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Path and query as received. */
  url: string;
  requestId: string;
}

export interface Answer<T> {
  body: T;
  /** The resource was made by an earlier request with the same key. */
  replayed?: boolean;
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
  /** 403 for live merchants. */
  sandboxOnly?: boolean;
  /**
   * A busy write whose every 200, but for a replay, follows a synchronous commit of its own: that takes the nonce to the
   * disk with it. The nonces of all others are made durable by themselves, as a change may turn out to be none.
   */
  alwaysCommits?: boolean;
  params?: P;
  query?: Q;
  /** Schema of the body; an empty body is read as `{}` where the schema has no required field. */
  body?: B;
  /** Refuses, before the shape is judged, what the specification gives a code of its own. @throws Fail */
  precheck?(body: unknown): void;
  answer: A;
  /** What it may refuse beyond what every call may: for the documentation. */
  refusals: readonly FailCode[];
  handle(request: RouteRequest<Shape<P>, Shape<Q>, Shape<B>>): Promise<Answer<Static<A>>>;
}

/** Gives the handler the types of the route's schemas. */
export function defineRoute<
  A extends TSchema,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(route: Route<P, Q, B, A>): Route {
  // The pipeline validates against the same schemas before it calls the handler, so the widening is sound.
  return route as unknown as Route;
}
