import { SCOPES } from '@florin/contract/scopes';
import { sql } from 'kysely';
import Type, { type Static } from 'typebox';
import { isoOf } from '../../platform/db/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { encodeId } from '../../tenancy/index.ts';
import { signingKeyOf } from '../keys/webhook-keys.ts';
import '../tables.ts';

const Time = Type.Union([Type.String(), Type.Null()]);

/** An API key without its secrets, as the console and the command line list it. Times are ISO 8601 in UTC. */
export const ListedKeySchema = Type.Object({
  key_id: Type.String(),
  store_id: Type.String(),
  name: Type.String(),
  api_key: Type.String({ description: 'Its last four characters.' }),
  scopes: Type.Array(Type.String({ enum: [...SCOPES] })),
  owner: Type.Union([Type.String(), Type.Null()], { description: 'The approver who holds it.' }),
  status: Type.Union([Type.Literal('active'), Type.Literal('expired'), Type.Literal('revoked')]),
  expires_at: Type.Union([Type.String(), Type.Null()], { description: 'Null: never.' }),
  revoked_at: Time,
  created_at: Type.String(),
  last_used_at: Type.Union([Type.String(), Type.Null()], {
    description: 'The newest request that it signed, about to the minute; null: none is known.',
  }),
  old_secret_until: Type.Union([Type.String(), Type.Null()], {
    description: 'Until then the secret from before the last rotation is good, too.',
  }),
  signs_webhooks: Type.Boolean({ description: "Its secret signs the store's webhooks." }),
});
type ListedKey = Static<typeof ListedKeySchema>;

interface KeyFilter {
  merchantId?: string | undefined;
  storeId?: string | undefined;
  /** A person of the console who was shown a secret of it. */
  holderId?: string | undefined;
}

const readKeys = ({ db }: Pick<Platform, 'db'>, { merchantId, storeId, holderId }: KeyFilter) => {
  const keys = db
    .selectFrom('api_key as k')
    .innerJoin('store as s', (join) =>
      join.onRef('s.merchant_id', '=', 'k.merchant_id').onRef('s.store_id', '=', 'k.store_id'),
    )
    .select(['k.key_id', 'k.store_id', 'k.name', 'k.last_four', 'k.scopes', 'k.owner_approver_id'])
    .select(['k.expires_at_ms', 'k.revoked_at_ms', 'k.created_at', 'k.last_used_at_ms'])
    .select(['k.previous_secret_until_ms'])
    .select(['s.webhook_key_id', 's.previous_webhook_key_id', 's.previous_webhook_key_until_ms'])
    .orderBy('k.created_at')
    .orderBy('k.key_id');
  const ofMerchant = merchantId === undefined ? keys : keys.where('k.merchant_id', '=', merchantId);
  const ofHolder =
    holderId === undefined ? ofMerchant : ofMerchant.where(sql<boolean>`${holderId}::uuid = any(k.holders)`);
  return storeId === undefined ? ofHolder : ofHolder.where('k.store_id', '=', storeId);
};

type KeyRow = Awaited<ReturnType<ReturnType<typeof readKeys>['execute']>>[number];

function statusOf({ revoked_at_ms: revoked, expires_at_ms: expires }: KeyRow, nowMs: number) {
  if (revoked !== null) return 'revoked';
  return expires !== null && Number(expires) <= nowMs ? 'expired' : 'active';
}

function present(key: KeyRow, nowMs: number): ListedKey {
  const { previous_secret_until_ms: until } = key;
  return {
    key_id: encodeId('key', key.key_id),
    store_id: encodeId('store', key.store_id),
    name: key.name,
    api_key: `…${key.last_four}`,
    scopes: key.scopes,
    owner: key.owner_approver_id === null ? null : encodeId('approver', key.owner_approver_id),
    status: statusOf(key, nowMs),
    expires_at: isoOf(key.expires_at_ms),
    revoked_at: isoOf(key.revoked_at_ms),
    created_at: isoOf(Number(key.created_at) * 1000) ?? '',
    last_used_at: isoOf(key.last_used_at_ms),
    old_secret_until: until !== null && Number(until) > nowMs ? isoOf(until) : null,
    signs_webhooks: signingKeyOf(key, nowMs) === key.key_id,
  };
}

/** API keys by the end of each, ended ones too, oldest first. */
export async function listKeys(
  deps: Pick<Platform, 'db' | 'clock'>,
  filter: KeyFilter = {},
): Promise<ListedKey[]> {
  const nowMs = deps.clock.nowMs();
  return (await readKeys(deps, filter).execute()).map((key) => present(key, nowMs));
}
