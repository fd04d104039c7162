import Type from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { decodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { search } from '../search/find.ts';

const TEXT_MAX = 256;
const OrNull = (schema: ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>) =>
  Type.Union([schema, Type.Null()]);

const Kind = Type.String({
  enum: ['payment', 'customer', 'refund', 'payout', 'subscription', 'invoice'],
});
const FoundSchema = Type.Object({
  kind: Kind,
  id: Type.String(),
  label: OrNull(Type.String()),
  status: OrNull(Type.String()),
  amount: OrNull(Type.Integer({ description: 'In the smallest unit of the currency.' })),
  currency: OrNull(Type.String()),
  created_at: Type.Integer(),
});

/** One box for everything of a store. */
export const searchRoutes = (deps: ConsoleDeps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/console/api/merchants/{merchant_id}/stores/{store_id}/search',
    operationId: 'search',
    tag: 'Search',
    summary:
      'What a text names: an id or the beginning of one, an order, a customer with what is theirs, an e-mail address, an address that paid or was paid, a transaction, an amount such as `12.50` or `12.50 USDT`',
    scope: 'read',
    permission: { name: 'see' },
    params: Type.Object({ merchant_id: Type.String(), store_id: Type.String() }),
    query: Type.Object({ q: Type.String({ maxLength: TEXT_MAX }) }),
    answer: Type.Object({
      data: Type.Array(FoundSchema),
      cut: Type.Array(Kind, { description: 'Kinds of which there may be more: looking took too long.' }),
    }),
    refusals: [],
    handle: async ({ caller: { merchantId }, params, query }) => {
      const storeId = decodeId('store', params.store_id) ?? NIL_ID;
      const { found, cut } = await search(deps.db, { merchantId, storeId }, query.q);
      const data = found.map(({ createdAt, ...one }) => ({ ...one, created_at: createdAt }));
      return { body: { data, cut } };
    },
  }),
];
