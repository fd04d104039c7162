import type { Db, Tx } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import { prepared } from '../../platform/db/statements/index.ts';
import { Fail } from '../../platform/fail.ts';
import type { Platform } from '../../platform/platform.ts';
import { encodeId } from '../../tenancy/index.ts';
import { getStore, lockKey } from '../queries.ts';
import { secretContext } from './secrets.ts';
import '../tables.ts';

// One secret at a time signs all webhooks of a store: that of its webhook key. After a change of the key, or of its secret,
// the previous secret keeps signing until the merchant confirms that it verifies both, or the overlap ends, so that a
// merchant who has not switched yet refuses no webhook.

const OVERLAP_SECONDS_MAX = 30 * 86_400;

interface StoreRef {
  merchantId: string;
  storeId: string;
}

/** Makes the first key of a store its webhook key. */
export async function nameFirstWebhookKey(tx: Tx, store: StoreRef, keyId: string): Promise<void> {
  await tx
    .updateTable('store')
    .set({ webhook_key_id: keyId })
    .where('merchant_id', '=', store.merchantId)
    .where('store_id', '=', store.storeId)
    .where('webhook_key_id', 'is', null)
    .execute();
}

/** Locks a store's row, for changes of it and for limits per store. @throws Fail `resource_not_found` */
export async function lockStore(tx: Tx, { merchantId, storeId }: StoreRef) {
  const store = await tx
    .selectFrom('store')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('store_id', '=', storeId)
    .forUpdate()
    .executeTakeFirst();
  if (store === undefined)
    throw new Fail('resource_not_found', `There is no store ${encodeId('store', storeId)}.`);
  return store;
}

const namedMeanwhile = () => new Fail('conflict', 'Somebody named another key meanwhile: look at it first.');

interface WebhookKeyChange {
  keyId: string;
  overlapSeconds: number;
  /** The key that somebody saw named who decides by it. */
  seenKeyId?: string | null;
}

/**
 * Sets the key whose secret signs the store's webhooks after the overlap or the confirmation.
 *
 * @throws Fail `invalid_request` for a key of another store or a revoked one, or an overlap out of range;
 *   `conflict` where the named key is no longer the one that was seen
 */
export async function setWebhookKey(
  platform: Pick<Platform, 'db' | 'clock'>,
  store: StoreRef,
  { keyId, overlapSeconds, seenKeyId }: WebhookKeyChange,
): Promise<void> {
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > OVERLAP_SECONDS_MAX) {
    const message = `The overlap must be from 0 to ${OVERLAP_SECONDS_MAX} seconds.`;
    throw new Fail('invalid_request', { message, param: 'overlap' });
  }
  const nowMs = platform.clock.nowMs();
  await transact(platform.db, async (tx) => {
    // Lock order: key before store, as in a revocation.
    const key = await lockKey(tx, store.merchantId, keyId);
    const current = await lockStore(tx, store);
    if (key.store_id !== store.storeId || key.revoked_at_ms !== null)
      throw new Fail('invalid_request', {
        message: 'The webhook key must be a key of the store that is not revoked.',
        param: 'key',
      });
    if (seenKeyId !== undefined && seenKeyId !== current.webhook_key_id) throw namedMeanwhile();
    if (current.webhook_key_id === keyId) return;
    const overlaps = overlapSeconds > 0 && current.webhook_key_id !== null;
    await updateStore(tx, store, {
      webhook_key_id: keyId,
      // Within an earlier overlap the key that signs now keeps signing.
      previous_webhook_key_id: overlaps ? signingKeyOf(current, nowMs) : null,
      previous_webhook_key_until_ms: overlaps ? nowMs + overlapSeconds * 1000 : null,
    });
  });
}

/**
 * Ends the overlap: the merchant verifies the new secret, which signs from now on.
 *
 * @param seenKeyId the key that somebody saw named who decides by it
 * @throws Fail `conflict` where another one is named by now
 */
export async function confirmWebhookKey(
  platform: Pick<Platform, 'db'>,
  store: StoreRef,
  seenKeyId?: string | null,
): Promise<void> {
  await transact(platform.db, async (tx) => {
    const { webhook_key_id: keyId } = await lockStore(tx, store);
    if (seenKeyId !== undefined && seenKeyId !== keyId) throw namedMeanwhile();
    await updateStore(tx, store, { previous_webhook_key_id: null, previous_webhook_key_until_ms: null });
    if (keyId === null) return;
    await tx
      .updateTable('api_key')
      .set({ previous_secret_signs: false })
      .where('merchant_id', '=', store.merchantId)
      .where('key_id', '=', keyId)
      .execute();
  });
}

async function updateStore(
  tx: Tx,
  { merchantId, storeId }: StoreRef,
  change: {
    webhook_key_id?: string;
    previous_webhook_key_id: string | null;
    previous_webhook_key_until_ms: number | null;
  },
): Promise<void> {
  await tx
    .updateTable('store')
    .set(change)
    .where('merchant_id', '=', merchantId)
    .where('store_id', '=', storeId)
    .execute();
}

interface KeyNames {
  webhook_key_id: string | null;
  previous_webhook_key_id: string | null;
  previous_webhook_key_until_ms: bigint | number | null;
}

/** The key that signs at that time. */
export function signingKeyOf(store: KeyNames, nowMs: number): string | null {
  const overlaps = Number(store.previous_webhook_key_until_ms ?? 0) > nowMs;
  return overlaps ? store.previous_webhook_key_id : store.webhook_key_id;
}

/** Which secret signs a store's webhooks. */
interface WebhookKey {
  keyId: string | null;
  /** The key that signs now. */
  signingKeyId: string | null;
  /** The secret from before the last rotation of that key signs. */
  isPreviousSecret: boolean;
  /** Then the newest secret of `keyId` signs; null: it does now. */
  untilMs: number | null;
}

/** @throws Fail `resource_not_found` */
export async function readWebhookKey(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  { merchantId, storeId }: StoreRef,
): Promise<WebhookKey> {
  const store = await getStore(db, merchantId, storeId);
  const nowMs = clock.nowMs();
  const signingKeyId = signingKeyOf(store, nowMs);
  const key =
    signingKeyId === null
      ? undefined
      : await db
          .selectFrom('api_key')
          .select(['previous_secret_signs', 'previous_secret_until_ms'])
          .where('merchant_id', '=', merchantId)
          .where('key_id', '=', signingKeyId)
          .executeTakeFirst();
  const secretUntilMs = Number(key?.previous_secret_until_ms ?? 0);
  const isPreviousSecret = key?.previous_secret_signs === true && secretUntilMs > nowMs;
  // Once the other key signs, no secret of this one does.
  const isNamed = signingKeyId === store.webhook_key_id;
  const ownUntilMs = isPreviousSecret ? secretUntilMs : 0;
  const untilMs = isNamed ? ownUntilMs : Number(store.previous_webhook_key_until_ms ?? 0);
  const until = untilMs > nowMs ? untilMs : null;
  return { keyId: store.webhook_key_id, signingKeyId, isPreviousSecret, untilMs: until };
}

/** @throws Fail `invalid_request` while the key signs webhooks of its store: set another one first */
export async function checkSignsNoWebhooks(
  tx: Tx,
  key: { merchantId: string; keyId: string; storeId: string },
  nowMs: number,
): Promise<void> {
  const store = await lockStore(tx, key);
  if (store.webhook_key_id !== key.keyId && signingKeyOf(store, nowMs) !== key.keyId) return;
  const id = encodeId('store', key.storeId);
  throw new Fail(
    'invalid_request',
    `This key signs the webhooks of ${id}. Name another first (florin stores webhook-key ${id} KEY), and confirm it; or rotate it with an overlap of 0, which ends its secret at once.`,
  );
}

interface SignerRow extends KeyNames {
  store_id: string;
  key_id: string;
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_until_ms: bigint | null;
  previous_secret_signs: boolean;
}

/** The secrets that sign the webhooks of these stores now; a store without any key is left out. */
export async function readWebhookSecrets(
  { db, vault, clock }: Pick<Platform, 'vault' | 'clock'> & { db: Db },
  merchantId: string,
  storeIds: readonly string[],
): Promise<Map<string, Buffer>> {
  const { rows } = await prepared<SignerRow>`
    select s.store_id, s.webhook_key_id, s.previous_webhook_key_id, s.previous_webhook_key_until_ms,
           k.key_id, k.secret, k.previous_secret, k.previous_secret_until_ms, k.previous_secret_signs
    from store s
    join api_key k on k.merchant_id = s.merchant_id and k.key_id in (s.webhook_key_id, s.previous_webhook_key_id)
    where s.merchant_id = ${merchantId} and s.store_id = any(${storeIds}::uuid[])`.execute(db);
  const nowMs = clock.nowMs();
  const signing = rows.filter((row) => row.key_id === signingKeyOf(row, nowMs));
  return new Map(
    signing.map((row) => {
      const old = row.previous_secret_signs && Number(row.previous_secret_until_ms ?? 0) > nowMs;
      const sealed = old ? (row.previous_secret ?? row.secret) : row.secret;
      return [row.store_id, vault.open(sealed, secretContext(merchantId, row.key_id))];
    }),
  );
}
