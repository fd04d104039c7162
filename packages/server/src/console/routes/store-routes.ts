import Type from 'typebox';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { listStores } from '../../stores/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';

const Store = Type.Object({
  store_id: Type.String(),
  name: Type.String(),
  is_enabled: Type.Boolean({ description: 'Reviewed and enabled: its pages may be opened.' }),
});

/** The stores of a merchant, of which a page names one. */
export const storeRoutes = (deps: ConsoleDeps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/console/api/merchants/{merchant_id}/stores',
    operationId: 'listStores',
    tag: 'Stores',
    summary: 'The stores of a merchant',
    scope: 'read',
    permission: { name: 'see' },
    params: Type.Object({ merchant_id: Type.String() }),
    answer: Type.Object({ data: Type.Array(Store) }),
    refusals: [],
    handle: async ({ caller }) => ({
      body: {
        data: (await listStores(deps, caller.merchantId)).map((store) => ({
          store_id: encodeId('store', store.store_id),
          name: store.name,
          is_enabled: store.enabled && store.review_status === 'approved',
        })),
      },
    }),
  }),
];
