import Type from 'typebox';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { isoOf } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineRoute, type Route, type RouteRequest } from '../../platform/http/index.ts';
import { confirmWebhookKey, readWebhookKey, setWebhookKey } from '../../stores/keys/index.ts';
import { decodeId, encodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { DONE, Done, needs, Text } from './own.ts';

const PATH = '/console/api/merchants/{merchant_id}/stores/{store_id}/webhook-key';
const common = { scope: 'read' as const, tag: 'API keys' };
const Store = Type.Object({ merchant_id: Type.String(), store_id: Type.String() });
const KeyId = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const storeOf = ({
  caller,
  params,
}: Pick<RouteRequest<unknown, unknown, unknown>, 'caller'> & { params: { store_id: string } }) => ({
  merchantId: caller.merchantId,
  storeId: decodeId('store', params.store_id) ?? NIL_ID,
});

/** Which secret signs a store's webhooks, as the page and the audit log have it. */
export async function presentWebhookKey(deps: ConsoleDeps, store: { merchantId: string; storeId: string }) {
  const { keyId, signingKeyId, isPreviousSecret, untilMs } = await readWebhookKey(deps, store);
  const idOf = (id: string | null) => (id === null ? null : encodeId('key', id));
  return {
    key_id: idOf(keyId),
    signing_key_id: idOf(signingKeyId),
    is_old_secret: isPreviousSecret,
    old_secret_until: untilMs === null ? null : isoOf(untilMs),
  };
}

/** Ends an overlap that the person has seen. */
const confirmation = (deps: ConsoleDeps): Route =>
  defineRoute({
    ...common,
    method: 'POST',
    path: `${PATH}/confirm`,
    operationId: 'confirmWebhookKey',
    summary: 'End the overlap: your server verifies the newest secret, which signs from now on',
    permission: needs('edit_keys', true),
    params: Store,
    body: Type.Object({
      seen_key_id: KeyId(
        'The key that the person saw named: where it is another one by now, nothing changes.',
      ),
      seen_until: Type.Union([Type.String(), Type.Null()], {
        description: 'When the person saw the overlap end: a secret that was rotated since has another one.',
      }),
    }),
    answer: Done,
    refusals: ['conflict', 'resource_not_found'],
    handle: async (request) => {
      const { seen_key_id: seen, seen_until: until } = request.body;
      const { old_secret_until: now } = await presentWebhookKey(deps, storeOf(request));
      if (now !== until) throw new Fail('conflict', 'The secret was rotated meanwhile: look at it first.');
      await confirmWebhookKey(
        deps,
        storeOf(request),
        seen === null ? null : (decodeId('key', seen) ?? NIL_ID),
      );
      return DONE;
    },
  });

/** The key whose secret signs the webhooks of a store. */
export const webhookKeyRoutes = (deps: ConsoleDeps): Route[] => [
  defineRoute({
    ...common,
    method: 'GET',
    path: PATH,
    operationId: 'getWebhookKey',
    summary: "Whose secret signs the store's webhooks, and until when the one before it does",
    permission: needs('edit_keys'),
    params: Store,
    answer: Type.Object({
      key_id: KeyId('The key that is named; null: the store has none.'),
      signing_key_id: KeyId('The key that signs now: until the overlap ends, the one before.'),
      is_old_secret: Type.Boolean({
        description: 'The secret from before the last rotation of that key signs.',
      }),
      old_secret_until: Type.Union([Type.String(), Type.Null()], {
        description:
          'Then the overlap ends, and the newest secret of the named key signs; null: it signs now.',
      }),
    }),
    refusals: ['resource_not_found'],
    handle: async (request) => ({ body: await presentWebhookKey(deps, storeOf(request)) }),
  }),
  defineRoute({
    ...common,
    method: 'PUT',
    path: PATH,
    operationId: 'setWebhookKey',
    summary: "Name the key whose secret signs the store's webhooks once the overlap ends, or was ended",
    permission: needs('edit_keys', true),
    params: Store,
    body: Type.Object({
      key_id: Text(64),
      overlap: Type.Integer({ minimum: 0, description: 'Seconds, up to 30 days.' }),
      seen_key_id: KeyId(
        'The key that the person saw named: where it is another one by now, nothing changes.',
      ),
    }),
    answer: Done,
    refusals: ['conflict', 'resource_not_found'],
    handle: async (request) => {
      const { key_id: keyId, overlap, seen_key_id: seen } = request.body;
      await setWebhookKey(deps, storeOf(request), {
        keyId: decodeId('key', keyId) ?? NIL_ID,
        overlapSeconds: overlap,
        seenKeyId: seen === null ? null : (decodeId('key', seen) ?? NIL_ID),
      });
      return DONE;
    },
  }),
  confirmation(deps),
];
