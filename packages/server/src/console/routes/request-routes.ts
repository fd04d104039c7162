import { PAGE_QUERY } from '@florin/contract/schemas';
import Type from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineList, defineRoute, type Route } from '../../platform/http/index.ts';
import {
  findRequest,
  LoggedRequestDetailsSchema,
  LoggedRequestSchema,
  listRequests,
  readRefusal,
  readStatusRange,
} from '../../request-log/index.ts';
import { decodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';

const MERCHANT = '/console/api/merchants/{merchant_id}';
const tag = 'Request log';
const permission = { name: 'see_requests' };
const LIMIT_MAX = 100;
const LENGTH_MAX = 256;
const SECONDS_MAX = 9_999_999_999;

const Filter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: LENGTH_MAX, description }));
const Seconds = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: SECONDS_MAX, description }));

const Query = Type.Object({
  status: Filter('`401`, or `4xx`.'),
  route: Filter('What the template of the path begins with, such as `/api/v1/payouts`.'),
  key_id: Filter('API key.'),
  error_code: Filter('As the answer has it.'),
  refusal: Filter('Why a signature was refused: headers, signature, timestamp, ended, nonce.'),
  request_id: Filter('`X-Request-Id` of the answer.'),
  since: Seconds('Real time, Unix seconds.'),
  until: Seconds('Not itself in the range.'),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
  starting_after: Filter('`id` of the last request of the page before.'),
  sort: PAGE_QUERY.sort,
});

const msOf = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);

function keyIdOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const id = decodeId('key', text);
  if (id === undefined)
    throw new Fail('invalid_request', { message: 'key_id must be the id of an API key.', param: 'key_id' });
  return id;
}

const listRoute = (deps: ConsoleDeps): Route => ({
  ...defineList({
    path: `${MERCHANT}/stores/{store_id}/requests`,
    operationId: 'listRequests',
    tag,
    summary: 'Requests that keys of the store sent in the last 30 days, newest first',
    params: Type.Object({ merchant_id: Type.String(), store_id: Type.String() }),
    query: Query,
    answer: Type.Object({
      object: Type.Literal('list'),
      data: Type.Array(LoggedRequestSchema),
      has_more: Type.Boolean(),
      url: Type.String(),
    }),
    refusals: [],
    read: async ({ caller: { merchantId }, params, query }, slice) => {
      const { route, key_id: key, error_code: errorCode, request_id: requestId, since, until } = query;
      const filter = {
        merchantId,
        storeId: decodeId('store', params.store_id) ?? NIL_ID,
        keyId: keyIdOf(key),
        routePrefix: route,
        errorCode,
        requestId,
        status: readStatusRange(query.status),
        refusal: readRefusal(query.refusal),
        fromMs: msOf(since),
        beforeMs: msOf(until),
      };
      return await listRequests(deps.db, filter, slice);
    },
  }),
  permission,
});

/** What servers asked with the keys of a merchant, and what they were answered. */
export const requestRoutes = (deps: ConsoleDeps): Route[] => [
  listRoute(deps),
  defineRoute({
    method: 'GET',
    path: `${MERCHANT}/requests/{request_id}`,
    operationId: 'retrieveRequest',
    tag,
    summary: 'A request with headers, bodies, and why its signature was refused',
    scope: 'read',
    permission,
    params: Type.Object({ merchant_id: Type.String(), request_id: Type.String() }),
    answer: LoggedRequestDetailsSchema,
    refusals: ['resource_not_found'],
    handle: async ({ caller, params }) => {
      const found = await findRequest(deps.db, params.request_id, caller.merchantId);
      if (found !== undefined) return { body: found };
      throw new Fail('resource_not_found', 'There is no such request in the log of this merchant.');
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/operator/requests/{request_id}',
    operationId: 'findRequest',
    tag: 'Operator',
    summary: 'Whose request it is: the merchant and store in whose log it stands',
    scope: 'read',
    permission: { name: 'see_installation' },
    params: Type.Object({ request_id: Type.String() }),
    answer: Type.Object({ merchant: Type.String(), store: Type.String() }),
    refusals: ['resource_not_found'],
    handle: async ({ params }) => {
      const found = await findRequest(deps.db, params.request_id);
      if (found !== undefined) return { body: { merchant: found.merchant, store: found.store } };
      throw new Fail('resource_not_found', 'There is no such request in the log of any merchant.');
    },
  }),
];
