import Type, { type Static } from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { isoOf } from '../../platform/db/index.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import {
  changeStore,
  getMerchant,
  listMerchants,
  listStores,
  type Merchant,
  setMerchantStatus,
} from '../../stores/index.ts';
import { decodeId, encodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { DONE, Done, needs } from './own.ts';
import { presentStore, REVIEWS, StoreSchema } from './store-routes.ts';

const OPERATOR = '/console/api/operator';
const common = { scope: 'read' as const, tag: 'Operator' };
const MERCHANT_STATUSES = ['active', 'suspended'] as const;

const MerchantSchema = Type.Object({
  merchant_id: Type.String(),
  name: Type.String(),
  mode: Type.String(),
  status: Type.String({ enum: [...MERCHANT_STATUSES] }),
  created_at: Type.String(),
});

const presentMerchant = ({ merchantId, name, mode, status, createdAt }: Merchant) => ({
  merchant_id: encodeId('merchant', merchantId),
  name,
  mode,
  status,
  created_at: isoOf(createdAt * 1000) ?? '',
});

const PAGE_MAX = 100;
const StoreQuery = Type.Object({
  status: Type.Optional(
    Type.Union((['pending', 'enabled', 'disabled', 'rejected'] as const).map((one) => Type.Literal(one))),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX })),
  starting_after: Type.Optional(
    Type.String({ maxLength: 64, description: 'The last store of the page before.' }),
  ),
});

async function listAllStores(
  deps: ConsoleDeps,
  { status, limit = PAGE_MAX, starting_after: text }: Static<typeof StoreQuery>,
) {
  const after = text === undefined ? undefined : (decodeId('store', text) ?? NIL_ID);
  const stores = await listStores(deps, { status, limit: limit + 1, after });
  const data = await Promise.all(
    stores.slice(0, limit).map(async (store) => ({
      ...presentStore(store),
      merchant: presentMerchant(await getMerchant(deps.db, store.merchant_id)),
    })),
  );
  return { data, has_more: stores.length > limit };
}

/** What the operator decides about the stores of every merchant. */
const reviews = (deps: ConsoleDeps): Route[] => [
  defineRoute({
    ...common,
    method: 'GET',
    path: `${OPERATOR}/stores`,
    operationId: 'listAllStores',
    summary: 'The stores of all merchants, oldest first',
    permission: needs('see_installation'),
    query: StoreQuery,
    answer: Type.Object({
      data: Type.Array(Type.Object({ ...StoreSchema.properties, merchant: MerchantSchema })),
      has_more: Type.Boolean(),
    }),
    refusals: [],
    handle: async ({ query }) => ({ body: await listAllStores(deps, query) }),
  }),
  defineRoute({
    ...common,
    method: 'PUT',
    path: `${OPERATOR}/merchants/{merchant_id}/stores/{store_id}`,
    operationId: 'changeStore',
    summary: 'Approve or reject a store, enable or disable it; every node applies it at once',
    permission: needs('operate', true),
    params: Type.Object({ merchant_id: Type.String(), store_id: Type.String() }),
    body: Type.Object({
      review_status: Type.Optional(Type.Union([Type.Literal('approved'), Type.Literal('rejected')])),
      is_open: Type.Optional(Type.Boolean()),
      seen: Type.Object(
        { review_status: Type.Union(REVIEWS.map((status) => Type.Literal(status))), is_open: Type.Boolean() },
        { description: 'What the page showed: where somebody changed it meanwhile, nothing is done.' },
      ),
    }),
    answer: Done,
    refusals: ['conflict', 'resource_not_found'],
    handle: async ({ caller: { merchantId }, params, body }) => {
      const storeId = decodeId('store', params.store_id) ?? NIL_ID;
      const { review_status: reviewStatus, is_open: enabled, seen } = body;
      await changeStore(
        deps,
        { merchantId, storeId },
        {
          ...(reviewStatus === undefined ? {} : { reviewStatus }),
          ...(enabled === undefined ? {} : { enabled }),
          seen: { reviewStatus: seen.review_status, enabled: seen.is_open },
        },
      );
      return DONE;
    },
  }),
];

const merchants = (deps: ConsoleDeps): Route[] => [
  defineRoute({
    ...common,
    method: 'GET',
    path: `${OPERATOR}/merchants`,
    operationId: 'listMerchants',
    summary: 'All merchants, oldest first',
    permission: needs('see_installation'),
    answer: Type.Object({ data: Type.Array(MerchantSchema) }),
    refusals: [],
    handle: async () => ({
      body: { data: (await listMerchants(deps.db)).map(presentMerchant) },
    }),
  }),
  defineRoute({
    ...common,
    method: 'PUT',
    path: `${OPERATOR}/merchants/{merchant_id}`,
    operationId: 'changeMerchant',
    summary:
      'Suspend a merchant, or resume it: while suspended its requests are refused, and what has begun goes on',
    permission: needs('operate', true),
    params: Type.Object({ merchant_id: Type.String() }),
    body: Type.Object({ status: Type.Union(MERCHANT_STATUSES.map((status) => Type.Literal(status))) }),
    answer: Done,
    refusals: [],
    handle: async ({ caller: { merchantId }, body: { status } }) => {
      await setMerchantStatus(deps, merchantId, status);
      return DONE;
    },
  }),
];

/** The installation's merchants and their stores, for the operator. */
export const operatorRoutes = (deps: ConsoleDeps): Route[] => [...reviews(deps), ...merchants(deps)];
