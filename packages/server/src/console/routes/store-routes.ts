import Type from 'typebox';
import { isoOf } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { withCsv } from '../../platform/http/lists/index.ts';
import { createStore, getMerchant, listStores } from '../../stores/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { needs, Text } from './own.ts';

const STORES = '/console/api/merchants/{merchant_id}/stores';
const common = { scope: 'read' as const, tag: 'Stores' };
const Merchant = Type.Object({ merchant_id: Type.String() });
export const REVIEWS = ['pending', 'approved', 'rejected'] as const;

const ReviewStatus = Type.String({ enum: [...REVIEWS] });
export const StoreSchema = Type.Object({
  store_id: Type.String(),
  name: Type.String(),
  channel_type: Type.String({ description: '`api`: its server calls the API; `hosted`: pages alone.' }),
  review_status: ReviewStatus,
  is_open: Type.Boolean({ description: 'Whether the operator has it enabled.' }),
  is_enabled: Type.Boolean({ description: 'Reviewed and enabled: its pages may be opened.' }),
  created_at: Type.String(),
});
type StoreRow = Awaited<ReturnType<typeof listStores>>[number];
export const presentStore = (store: StoreRow) => ({
  store_id: encodeId('store', store.store_id),
  name: store.name,
  channel_type: store.channel_type,
  review_status: store.review_status,
  is_open: store.enabled,
  is_enabled: store.enabled && store.review_status === 'approved',
  created_at: isoOf(Number(store.created_at) * 1000) ?? '',
});

/** The stores of a merchant, of which a page names one; merchants ask for them, the operator decides. */
export const storeRoutes = (deps: ConsoleDeps): Route[] => [
  withCsv(
    defineRoute({
      ...common,
      method: 'GET',
      path: STORES,
      operationId: 'listStores',
      summary: 'The stores of a merchant',
      permission: needs('see'),
      params: Merchant,
      answer: Type.Object({ data: Type.Array(StoreSchema) }),
      refusals: [],
      handle: async ({ caller }) => ({
        body: { data: (await listStores(deps, caller.merchantId)).map(presentStore) },
      }),
    }),
  ),
  defineRoute({
    ...common,
    method: 'POST',
    path: STORES,
    operationId: 'createStore',
    summary: 'Ask for another store: the operator reviews it and enables it',
    permission: needs('edit_stores', true),
    params: Merchant,
    body: Type.Object({
      name: Text(256),
      channel_type: Type.Union([Type.Literal('api'), Type.Literal('hosted')]),
    }),
    answer: Type.Object({ store_id: Type.String() }),
    refusals: ['conflict'],
    handle: async ({ caller: { merchantId }, body: { name, channel_type: channelType } }) => {
      const { status } = await getMerchant(deps.db, merchantId);
      if (status !== 'active') throw new Fail('forbidden', 'This merchant is suspended.');
      const storeId = await createStore(deps, { merchantId, name, channelType });
      return { body: { store_id: encodeId('store', storeId) } };
    },
  }),
];
