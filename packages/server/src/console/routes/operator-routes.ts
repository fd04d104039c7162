import Type from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { isoOf } from '../../platform/db/index.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import {
  changeStore,
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

async function listAllStores(deps: ConsoleDeps) {
  const merchants = new Map((await listMerchants(deps.db)).map((one) => [one.merchantId, one]));
  const stores = await listStores(deps, undefined);
  return stores.flatMap((store) => {
    const merchant = merchants.get(store.merchant_id);
    if (merchant === undefined) return [];
    return [{ ...presentStore(store), merchant: presentMerchant(merchant) }];
  });
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
    answer: Type.Object({
      data: Type.Array(Type.Object({ ...StoreSchema.properties, merchant: MerchantSchema })),
    }),
    refusals: [],
    handle: async () => ({ body: { data: await listAllStores(deps) } }),
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
