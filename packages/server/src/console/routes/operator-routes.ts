import Type, { type Static } from 'typebox';
import { type LiveAccountDeps, openLiveAccount } from '../../custody/index.ts';
import { bodyDigest } from '../../platform/db/guards/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { isoOf } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineRoute, type Route } from '../../platform/http/index.ts';
import { withCsv } from '../../platform/http/lists/index.ts';
import {
  changeStore,
  createMerchant,
  getMerchant,
  listMerchants,
  listStores,
  type Merchant,
  setMerchantStatus,
} from '../../stores/index.ts';
import { decodeId, encodeId } from '../../tenancy/index.ts';
import { type ConsoleDeps, users } from '../accounts/index.ts';
import { DONE, Done, needs, Text, userOf } from './own.ts';
import { presentStore, REVIEWS, StoreSchema } from './store-routes.ts';

export interface OperatorDeps extends ConsoleDeps, LiveAccountDeps {}

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

const CreatedSchema = Type.Object({
  merchant_id: Type.String(),
  link_token: Type.Union([Type.String(), Type.Null()], {
    description:
      'Stands behind `/console/link#`, for the first owner, once, within 7 days. Null where the same form was sent before: the link was in its answer alone.',
  }),
  note: Type.Union([Type.String(), Type.Null()], {
    description: 'What is missing still, where real money has no wallet yet.',
  }),
});

const presentMerchant = ({ merchantId, name, mode, status, createdAt }: Merchant) => ({
  merchant_id: encodeId('merchant', merchantId),
  name,
  mode,
  status,
  created_at: isoOf(createdAt * 1000) ?? '',
});

const PAGE_MAX = 100;
const pageOf = (what: string) => ({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX })),
  starting_after: Type.Optional(
    Type.String({ maxLength: 64, description: `The last ${what} of the page before.` }),
  ),
});
const MerchantQuery = Type.Object(pageOf('merchant'));
const StoreQuery = Type.Object({
  status: Type.Optional(
    Type.Union((['pending', 'enabled', 'disabled', 'rejected'] as const).map((one) => Type.Literal(one))),
  ),
  ...pageOf('store'),
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

async function listPage(
  { db }: ConsoleDeps,
  { limit = PAGE_MAX, starting_after: text }: Static<typeof MerchantQuery>,
) {
  const after = text === undefined ? undefined : (decodeId('merchant', text) ?? NIL_ID);
  const all = await listMerchants(db, { limit: limit + 1, after });
  const page = all.slice(0, limit);
  const owned = await users.listOwned(
    db,
    page.map(({ merchantId }) => merchantId),
  );
  const data = page.map((one) => ({ ...presentMerchant(one), has_owner: owned.has(one.merchantId) }));
  return { data, has_more: all.length > limit };
}

/** What the operator decides about the stores of every merchant. */
const reviews = (deps: ConsoleDeps): Route[] => [
  withCsv(
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
    'store_id',
  ),
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

/** A live merchant has a wallet from the start where its network is set up; where that fails, `networks enable` makes up for it. */
async function openAccount(deps: LiveAccountDeps, merchantId: string): Promise<string | null> {
  try {
    if (await openLiveAccount(deps, merchantId)) return null;
    return 'This installation has no Ethereum for live merchants: florin networks enable opens the wallet of another network.';
  } catch (error) {
    if (error instanceof Fail) return error.message;
    throw error;
  }
}

const creation = (deps: OperatorDeps): Route =>
  defineRoute({
    ...common,
    method: 'POST',
    path: `${OPERATOR}/merchants`,
    operationId: 'createMerchant',
    summary: 'Make a merchant with the invitation of its first owner; its mode never changes',
    permission: needs('operate', true),
    idempotencyKey: 'required',
    body: Type.Object({
      name: Text(256),
      mode: Type.Union([Type.Literal('sandbox'), Type.Literal('live')]),
      email: Type.String({ maxLength: 256, description: 'Of the first owner.' }),
    }),
    answer: CreatedSchema,
    refusals: ['conflict'],
    handle: async (request) => {
      const { name, mode, email } = request.body;
      const { userId } = userOf(request);
      // Before there is a merchant without its owner.
      if ((await users.findUserByEmail(deps.db, users.checkEmail(email)))?.user_id === userId)
        throw new Fail('invalid_request', { message: 'Nobody makes themselves an owner.', param: 'email' });
      const form = { key: request.idempotencyKey, digest: bodyDigest(request.body) };
      const { merchantId, isNew } = await createMerchant(deps, { name, mode }, form);
      const merchant_id = encodeId('merchant', merchantId);
      // What was interrupted goes on where it was.
      const note = mode === 'live' ? await openAccount(deps, merchantId) : null;
      if (!isNew) return { body: { merchant_id, link_token: null, note } };
      const owner = { merchantId, email, role: 'owner' };
      const { token } = await users.inviteUser(deps, owner, userId);
      return { body: { merchant_id, link_token: token, note } };
    },
  });

const merchants = (deps: OperatorDeps): Route[] => [
  creation(deps),
  withCsv(
    defineRoute({
      ...common,
      method: 'GET',
      path: `${OPERATOR}/merchants`,
      operationId: 'listMerchants',
      summary: 'The merchants, oldest first',
      permission: needs('see_installation'),
      query: MerchantQuery,
      answer: Type.Object({
        data: Type.Array(Type.Object({ ...MerchantSchema.properties, has_owner: Type.Boolean() })),
        has_more: Type.Boolean(),
      }),
      refusals: [],
      handle: async ({ query }) => ({ body: await listPage(deps, query) }),
    }),
    'merchant_id',
  ),
  defineRoute({
    ...common,
    method: 'GET',
    path: `${OPERATOR}/merchants/{merchant_id}`,
    operationId: 'retrieveMerchant',
    summary: 'A merchant, for whoever opens its pages without a role there',
    permission: needs('see_installation'),
    params: Type.Object({ merchant_id: Type.String() }),
    answer: MerchantSchema,
    refusals: [],
    handle: async ({ caller: { merchantId } }) => ({
      body: presentMerchant(await getMerchant(deps.db, merchantId)),
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
export const operatorRoutes = (deps: OperatorDeps): Route[] => [...reviews(deps), ...merchants(deps)];
