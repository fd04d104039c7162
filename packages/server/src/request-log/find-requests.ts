import { type SelectQueryBuilder, sql } from 'kysely';
import { firstIdAt } from '../platform/db/ids/index.ts';
import type { Db, Tables } from '../platform/db/index.ts';
import { cursorOf, inOrder, pageOf } from '../platform/db/lists/index.ts';
import type { Slice, SliceRequest } from '../platform/http/index.ts';
import { type LoggedRequest, type LoggedRequestDetails, presentDetails, presentRequest } from './present.ts';

const SUMMARY = [
  'merchant_id',
  'request_id',
  'callers_id',
  'store_id',
  'key_id',
  'is_verified',
  'method',
  'route',
  'path',
  'query',
  'status',
  'duration_us',
  'error_code',
  'refusal',
  'remote_address',
] as const;

export interface RequestFilter {
  merchantId: string;
  storeId?: string | undefined;
  keyId?: string | undefined;
  /** Real time, Unix milliseconds. */
  fromMs?: number | undefined;
  /** Not itself in the range. */
  beforeMs?: number | undefined;
  method?: string | undefined;
  /** A template such as `/api/v1/events/{event_id}`. */
  route?: string | undefined;
  /** The template begins with it. */
  routePrefix?: string | undefined;
  /** From the first to the last, both inclusive. */
  status?: readonly [number, number] | undefined;
  errorCode?: string | undefined;
  refusal?: string | undefined;
  requestId?: string | undefined;
}

const OWN_ID = /^req_([0-9a-f]{32})$/;

type Query<Row> = SelectQueryBuilder<Tables, 'request_log', Row>;

/** Rows of a request id: of this service's making, or its caller's, who may use one for several requests. */
function named<Row>(query: Query<Row>, requestId: string): Query<Row> {
  const own = OWN_ID.exec(requestId)?.[1];
  return query.where((is) =>
    is.or([is('callers_id', '=', requestId), ...(own === undefined ? [] : [is('request_id', '=', own)])]),
  );
}

function filtered<Row>(query: Query<Row>, filter: RequestFilter): Query<Row> {
  const { merchantId, storeId, keyId, fromMs, beforeMs, status, requestId } = filter;
  const equal = {
    store_id: storeId,
    key_id: keyId,
    method: filter.method,
    route: filter.route,
    error_code: filter.errorCode,
    refusal: filter.refusal,
  };
  let rows = query.where('merchant_id', '=', merchantId);
  if (fromMs !== undefined) rows = rows.where('request_id', '>=', firstIdAt(fromMs));
  if (beforeMs !== undefined) rows = rows.where('request_id', '<', firstIdAt(beforeMs));
  // Which the index of failed requests has, and what they are recorded for.
  if (filter.errorCode !== undefined || filter.refusal !== undefined) rows = rows.where('status', '>=', 400);
  if (status !== undefined) rows = rows.where('status', '>=', status[0]).where('status', '<=', status[1]);
  if (filter.routePrefix !== undefined)
    rows = rows.where(sql<boolean>`starts_with(route, ${filter.routePrefix})`);
  for (const [column, value] of Object.entries(equal))
    if (value !== undefined) rows = rows.where(sql.ref(column), '=', value);
  return requestId === undefined ? rows : named(rows, requestId);
}

/** Requests of a merchant. @throws Fail for a cursor that is no request of the merchant */
export async function listRequests(
  db: Db,
  filter: RequestFilter,
  slice: SliceRequest,
): Promise<Slice<LoggedRequest>> {
  const cursor = await cursorOf(slice.after, async (text) => {
    const id = OWN_ID.exec(text)?.[1];
    if (id === undefined) return undefined;
    const query = db.selectFrom('request_log').select('request_id');
    return await query
      .where('merchant_id', '=', filter.merchantId)
      .where('request_id', '=', id)
      .executeTakeFirst();
  });
  const query = filtered(db.selectFrom('request_log').select(SUMMARY), filter);
  const rows = await inOrder(query, ['request_id'], { ...slice, after: cursor }).execute();
  return pageOf(rows, slice, presentRequest);
}

/**
 * The request of an id, with headers and bodies; of several with one id of their caller the newest.
 *
 * @param merchantId undefined: of any merchant, for operators
 */
export async function findRequest(
  db: Db,
  requestId: string,
  merchantId?: string,
): Promise<LoggedRequestDetails | undefined> {
  const merchants = db.selectFrom('merchant').select('merchant_id');
  const rows = db
    .selectFrom('request_log')
    .selectAll()
    // Named, as the keys of all indexes begin with it.
    .where('merchant_id', 'in', merchantId === undefined ? merchants : [merchantId])
    .orderBy('request_id', 'desc')
    .limit(1);
  // An id of this service's making first: its day is in it. Somebody else may have sent it as an id of their own.
  const own = OWN_ID.exec(requestId)?.[1];
  const row =
    (own === undefined ? undefined : await rows.where('request_id', '=', own).executeTakeFirst()) ??
    (await rows.where('callers_id', '=', requestId).executeTakeFirst());
  return row && presentDetails(row);
}
