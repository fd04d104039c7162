import { SCOPES, type Scope } from '@florin/contract/scopes';
import Type from 'typebox';
import { bodyDigest } from '../../platform/db/guards/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { isoOf } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineRoute, type Route, type RouteRequest } from '../../platform/http/index.ts';
import { ListedKeySchema, listKeys } from '../../stores/key-lists/index.ts';
import { createKey, revokeKey, rotateKey } from '../../stores/keys/index.ts';
import { decodeId, encodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { givableScopes } from '../roles.ts';
import { DONE, Done, Text, userOf } from './own.ts';

type Request = RouteRequest<unknown, unknown, unknown>;

const MERCHANT = '/console/api/merchants/{merchant_id}';
const API_KEYS = `${MERCHANT}/stores/{store_id}/api-keys`;
const ONE = `${API_KEYS}/{key_id}`;
const common = { scope: 'read' as const, tag: 'API keys' };
const permission = { name: 'edit_keys' };
const withProof = { ...permission, isProofFresh: true };
const Store = Type.Object({ merchant_id: Type.String(), store_id: Type.String() });
const OneKey = Type.Object({ merchant_id: Type.String(), store_id: Type.String(), key_id: Type.String() });
const SECRET = 'Shown once: it is in no other answer.';

/** Whoever is shown a secret, and the form that asked for it. */
const holderOf = ({ caller, params, body, idempotencyKey }: Request) => ({
  userId: userOf({ caller }).userId,
  form: { key: idempotencyKey, digest: bodyDigest({ params, body }) },
});

/** The scopes of keys that a person may make or be shown; keys of a sandbox move nothing, so everybody gives them all. */
const givableBy = (request: Pick<Request, 'caller'>): readonly Scope[] =>
  request.caller.mode === 'live' ? givableScopes(userOf(request).permissions) : SCOPES;

/** A key's secret opens what the key may do: with real money nobody is shown one that may do more than they. */
function checkMayGive(request: Pick<Request, 'caller'>, scopes: readonly Scope[]): void {
  const givable = givableBy(request);
  const foreign = scopes.find((scope) => !givable.includes(scope));
  if (foreign === undefined) return;
  throw new Fail('forbidden', {
    message: `Your role does not permit what a key with the scope "${foreign}" may do with real money: ask an owner or admin.`,
    param: 'scopes',
  });
}

const known = (scopes: readonly string[]) => SCOPES.filter((scope) => scopes.includes(scope));

/** @throws Fail `resource_not_found` unless it is a key of that store */
async function findKey(deps: ConsoleDeps, { merchantId }: Request['caller'], params: KeyParams) {
  const storeId = decodeId('store', params.store_id) ?? NIL_ID;
  const keys = await listKeys(deps, { merchantId, storeId });
  const key = keys.find(({ key_id }) => key_id === params.key_id);
  if (key === undefined) throw new Fail('resource_not_found', 'There is no such key of this store.');
  return { key, ref: { merchantId, keyId: decodeId('key', key.key_id) ?? NIL_ID } };
}

interface KeyParams {
  store_id: string;
  key_id: string;
}

const listRoute = (deps: ConsoleDeps): Route =>
  defineRoute({
    ...common,
    method: 'GET',
    path: API_KEYS,
    operationId: 'listApiKeys',
    summary: 'API keys of a store, ended ones too, oldest first',
    permission,
    params: Store,
    answer: Type.Object({
      data: Type.Array(ListedKeySchema),
      givable_scopes: Type.Array(Type.String({ enum: [...SCOPES] }), {
        description: 'What keys may do that you make here: with real money no more than your role may.',
      }),
    }),
    refusals: [],
    handle: async (request) => {
      const storeId = decodeId('store', request.params.store_id) ?? NIL_ID;
      const data = await listKeys(deps, { merchantId: request.caller.merchantId, storeId });
      return { body: { data, givable_scopes: [...givableBy(request)] } };
    },
  });

const createRoute = (deps: ConsoleDeps): Route =>
  defineRoute({
    ...common,
    method: 'POST',
    path: API_KEYS,
    operationId: 'createApiKey',
    summary: 'Make an API key; you never approve what it creates, edits or submits',
    permission: withProof,
    idempotencyKey: 'required',
    params: Store,
    body: Type.Object({
      name: Text(256),
      scopes: Type.Array(Type.String({ enum: [...SCOPES] }), { maxItems: SCOPES.length }),
      validity_days: Type.Integer({ minimum: 0, description: '0: it does not expire.' }),
    }),
    answer: Type.Object({
      key_id: Type.String(),
      api_key: Type.String({ description: SECRET }),
      secret_key: Type.String({ description: SECRET }),
    }),
    refusals: ['conflict', 'resource_not_found'],
    handle: async (request) => {
      const { name, scopes, validity_days: validityDays } = request.body;
      checkMayGive(request, known(scopes));
      const made = await createKey(deps, {
        merchantId: request.caller.merchantId,
        storeId: decodeId('store', request.params.store_id) ?? NIL_ID,
        name,
        scopes,
        validityDays,
        holder: holderOf(request),
      });
      const { apiKey, secretKey } = made;
      return { body: { key_id: encodeId('key', made.keyId), api_key: apiKey, secret_key: secretKey } };
    },
  });

const rotateRoute = (deps: ConsoleDeps): Route =>
  defineRoute({
    ...common,
    method: 'POST',
    path: `${ONE}/rotate`,
    operationId: 'rotateApiKey',
    summary:
      'Give a key a new secret; the API key stays, and the old secret is good for as long as they overlap',
    permission: withProof,
    idempotencyKey: 'required',
    params: OneKey,
    body: Type.Object({ overlap: Type.Integer({ minimum: 0, description: 'Seconds, up to 30 days.' }) }),
    answer: Type.Object({
      key_id: Type.String(),
      secret_key: Type.String({ description: SECRET }),
      old_secret_until: Type.Union([Type.String(), Type.Null()]),
    }),
    refusals: ['conflict', 'resource_not_found'],
    handle: async (request) => {
      const { key, ref } = await findKey(deps, request.caller, request.params);
      checkMayGive(request, known(key.scopes));
      const { overlap } = request.body;
      const endsAtMs = deps.clock.nowMs() + overlap * 1000;
      const secret_key = await rotateKey(deps, ref, overlap, holderOf(request));
      return {
        body: { key_id: key.key_id, secret_key, old_secret_until: overlap === 0 ? null : isoOf(endsAtMs) },
      };
    },
  });

const revokeRoute = (deps: ConsoleDeps): Route =>
  defineRoute({
    ...common,
    method: 'DELETE',
    path: ONE,
    operationId: 'revokeApiKey',
    summary: 'End a key for good: requests with it are 401 from now on',
    permission: withProof,
    params: OneKey,
    answer: Done,
    refusals: ['resource_not_found'],
    handle: async (request) => {
      const { ref } = await findKey(deps, request.caller, request.params);
      await revokeKey(deps, ref);
      return DONE;
    },
  });

/** API keys of a merchant's stores. */
export const keyRoutes = (deps: ConsoleDeps): Route[] => [
  listRoute(deps),
  createRoute(deps),
  rotateRoute(deps),
  revokeRoute(deps),
];
