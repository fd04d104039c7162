import type { Db } from '../../platform/db/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { findKeyAccess } from '../queries.ts';
import '../tables.ts';
import { parseApiKey } from '../keys/credentials.ts';
import { secretContext } from '../keys/secrets.ts';

/** Whose an API key is. */
export interface KeyOwner {
  merchantId: string;
  storeId: string;
  keyId: string;
}

const API_KEY = /fl_(?:test|live)_[1-9A-HJ-NP-Za-km-z]{32,44}/;

/** The text of the API key in a header `Authorization`, however it is written there. */
export const apiKeyIn = (authorization: string | undefined): string | undefined =>
  API_KEY.exec(authorization ?? '')?.[0];

/** Finds whose an API key is, ended ones too. @returns undefined for a key that does not exist */
export async function findKeyOwner(db: Db, apiKey: string): Promise<KeyOwner | undefined> {
  const key = parseApiKey(apiKey);
  const access = key && (await findKeyAccess(db, key.merchantId, key.digest));
  return access && { merchantId: access.merchant_id, storeId: access.store_id, keyId: access.key_id };
}

/** What requests of a key may have been signed with by mistake. For explanations that its owner alone reads. */
export interface KeySecretsKnown {
  current: string;
  /** The secret before the last rotation, if it overlapped; until when it is good. */
  previous: { secret: string; untilMs: number } | undefined;
  /** Secrets of the store's other keys. */
  others: { keyId: string; secret: string }[];
  expiresAtMs: number | undefined;
  revokedAtMs: number | undefined;
}

const OTHERS_MAX = 5;

export async function readKeySecrets(
  { db, vault }: { db: Db } & Pick<Platform, 'vault'>,
  { merchantId, storeId, keyId }: KeyOwner,
): Promise<KeySecretsKnown | undefined> {
  const rows = await db
    .selectFrom('api_key')
    .select([
      'key_id',
      'secret',
      'previous_secret',
      'previous_secret_until_ms',
      'expires_at_ms',
      'revoked_at_ms',
    ])
    .where('merchant_id', '=', merchantId)
    .where('store_id', '=', storeId)
    .orderBy('created_at', 'desc')
    .execute();
  const own = rows.find((row) => row.key_id === keyId);
  if (own === undefined) return undefined;
  const open = (sealed: Buffer, id: string) => vault.open(sealed, secretContext(merchantId, id)).toString();
  const msOf = (value: bigint | number | null) => (value === null ? undefined : Number(value));
  return {
    current: open(own.secret, keyId),
    previous:
      own.previous_secret === null
        ? undefined
        : { secret: open(own.previous_secret, keyId), untilMs: Number(own.previous_secret_until_ms ?? 0) },
    others: rows
      .filter((row) => row.key_id !== keyId)
      .slice(0, OTHERS_MAX)
      .map((row) => ({ keyId: row.key_id, secret: open(row.secret, row.key_id) })),
    expiresAtMs: msOf(own.expires_at_ms),
    revokedAtMs: msOf(own.revoked_at_ms),
  };
}
