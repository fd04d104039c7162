import { SCOPES, type Scope } from '@florin/contract/scopes';
import { claimKey } from '../../platform/db/guards/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import { type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import type { Platform } from '../../platform/platform.ts';
import { encodeId } from '../../tenancy/index.ts';
import { checkName } from '../create-merchant.ts';
import { findApproverByName, getMerchant, getStore, lockKey } from '../queries.ts';
import { digestOf, makeApiKey, makeSecretKey } from './credentials.ts';
import { secretContext } from './secrets.ts';
import { checkSignsNoWebhooks, nameFirstWebhookKey } from './webhook-keys.ts';

const DAY_MS = 86_400_000;
const VALIDITY_DAYS_MAX = 36_500;
const OVERLAP_SECONDS_MAX = 30 * 86_400;

type KeyDeps = Pick<Platform, 'db' | 'clock' | 'vault'>;

/** Who is shown the secret, and the form that asks for it: sent twice, it takes effect once. */
export interface Holder {
  userId: string;
  form: { key: string; digest: Buffer };
}

export interface KeyInput {
  merchantId: string;
  storeId: string;
  name: string;
  /** 0: does not expire. */
  validityDays: number;
  scopes: readonly string[];
  /** Name of the approver who owns the key; that approver may not approve what the key creates, edits or submits. */
  ownerName?: string;
  /** The person of the console who makes it, and may not approve either. */
  holder?: Holder;
}

/** Shown once: a merchant can read neither the API key nor the secret key again. */
export interface KeySecrets {
  keyId: string;
  apiKey: string;
  secretKey: string;
}

function checkScopes(scopes: readonly string[]): Scope[] {
  const known = SCOPES.filter((scope) => scopes.includes(scope));
  if (known.length > 0 && scopes.every((scope) => SCOPES.some((name) => name === scope))) return known;
  throw new Fail('invalid_request', {
    message: `scopes must be one or more of ${SCOPES.join(', ')}.`,
    param: 'scopes',
  });
}

function expiryOf(validityDays: number, nowMs: number): number | null {
  if (!Number.isInteger(validityDays) || validityDays < 0 || validityDays > VALIDITY_DAYS_MAX) {
    const message = `The validity must be from 0 (never expires) to ${VALIDITY_DAYS_MAX} days.`;
    throw new Fail('invalid_request', { message, param: 'validity_days' });
  }
  return validityDays === 0 ? null : nowMs + validityDays * DAY_MS;
}

/** @throws Fail unless the store's channel is the API, and it is reviewed and enabled (specification, section 1) */
async function checkStoreMayHaveKeys(platform: KeyDeps, input: KeyInput): Promise<void> {
  const store = await getStore(platform.db, input.merchantId, input.storeId);
  const problem =
    (store.channel_type !== 'api' && 'its channel type is not API') ||
    (store.review_status !== 'approved' && 'it is not reviewed') ||
    (!store.enabled && 'it is not enabled');
  if (problem) throw new Fail('invalid_request', `No key can be made for this store: ${problem}.`);
}

async function ownerIdOf(platform: KeyDeps, input: KeyInput): Promise<string | null> {
  if (input.ownerName === undefined) return null;
  const owner = await findApproverByName(platform.db, input.merchantId, input.ownerName);
  if (owner !== undefined) return owner.approver_id;
  throw new Fail('invalid_request', {
    message: `${input.ownerName} is not a registered approver of this merchant.`,
    param: 'owner',
  });
}

interface Shown {
  operation: 'keys.create' | 'keys.rotate';
  merchantId: string;
  storeId: string;
  keyId: string;
  nowMs: number;
}

/** The secrets are in the first answer alone. @throws Fail `conflict` for a form that took effect before */
async function claimForm(tx: Tx, { form }: Holder, { keyId, nowMs, ...shown }: Shown): Promise<void> {
  const nowSeconds = Math.floor(nowMs / 1000);
  const { first, resourceId } = await claimKey(tx, { ...form, ...shown, resourceId: keyId, nowSeconds });
  if (first) return;
  throw new Fail('conflict', {
    message: `This was sent before and is done, with ${encodeId('key', resourceId)}. Its secret was in the first answer alone: where that did not arrive, rotate the key.`,
    param: 'Idempotency-Key',
  });
}

/**
 * @throws Fail `invalid_request` for a store that may have no keys, a wrong name, scope or validity; `conflict` where the
 * holder's form made a key before
 */
export async function createKey(platform: KeyDeps, input: KeyInput): Promise<KeySecrets> {
  const merchant = await getMerchant(platform.db, input.merchantId);
  await checkStoreMayHaveKeys(platform, input);
  const secrets = {
    keyId: newId(),
    apiKey: makeApiKey(merchant.merchantId, merchant.mode),
    secretKey: makeSecretKey(merchant.mode),
  };
  const nowMs = platform.clock.nowMs();
  const row = {
    merchant_id: merchant.merchantId,
    key_id: secrets.keyId,
    store_id: input.storeId,
    name: checkName(input.name, 'name'),
    digest: digestOf(secrets.apiKey),
    last_four: secrets.apiKey.slice(-4),
    scopes: checkScopes(input.scopes),
    owner_approver_id: await ownerIdOf(platform, input),
    holders: input.holder === undefined ? [] : [input.holder.userId],
    secret: platform.vault.seal(
      Buffer.from(secrets.secretKey),
      secretContext(merchant.merchantId, secrets.keyId),
    ),
    expires_at_ms: expiryOf(input.validityDays, nowMs),
    created_at: Math.floor(nowMs / 1000) + merchant.clockOffset,
  };
  await transact(platform.db, async (tx) => {
    if (input.holder !== undefined)
      await claimForm(tx, input.holder, {
        operation: 'keys.create',
        merchantId: merchant.merchantId,
        storeId: input.storeId,
        keyId: secrets.keyId,
        nowMs,
      });
    await tx.insertInto('api_key').values(row).execute();
    await nameFirstWebhookKey(tx, input, secrets.keyId);
  });
  return secrets;
}

/**
 * Gives a key a new secret; the API key stays. Until the overlap ends, both secrets are valid for requests.
 *
 * @returns the new secret key, shown once
 * @throws Fail `conflict` where the holder's form rotated a key before: a second rotation would end the secret that overlaps
 */
export async function rotateKey(
  platform: KeyDeps,
  key: { merchantId: string; keyId: string },
  overlapSeconds: number,
  holder?: Holder,
): Promise<string> {
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > OVERLAP_SECONDS_MAX) {
    const message = `The overlap must be from 0 to ${OVERLAP_SECONDS_MAX} seconds.`;
    throw new Fail('invalid_request', { message, param: 'overlap' });
  }
  const merchant = await getMerchant(platform.db, key.merchantId);
  const secretKey = makeSecretKey(merchant.mode);
  const sealed = platform.vault.seal(Buffer.from(secretKey), secretContext(key.merchantId, key.keyId));
  await transact(platform.db, async (tx) => {
    const current = await lockKey(tx, key.merchantId, key.keyId);
    if (current.revoked_at_ms !== null)
      throw new Fail('invalid_request', 'This key is revoked. Make a new one.');
    const nowMs = platform.clock.nowMs();
    if (holder !== undefined)
      await claimForm(tx, holder, { operation: 'keys.rotate', ...key, storeId: current.store_id, nowMs });
    await tx
      .updateTable('api_key')
      .set({
        secret: sealed,
        previous_secret: overlapSeconds === 0 ? null : current.secret,
        previous_secret_until_ms: overlapSeconds === 0 ? null : nowMs + overlapSeconds * 1000,
        previous_secret_signs: true,
        holders: [...new Set([...current.holders, ...(holder === undefined ? [] : [holder.userId])])],
      })
      .where('merchant_id', '=', key.merchantId)
      .where('key_id', '=', key.keyId)
      .execute();
  });
  return secretKey;
}

/**
 * Revokes a key for good: its requests are 401 from now on, on every node.
 *
 * @throws Fail `invalid_request` while the key signs its store's webhooks
 */
export async function revokeKey(
  platform: Pick<Platform, 'db' | 'clock'>,
  key: { merchantId: string; keyId: string },
): Promise<void> {
  await transact(platform.db, async (tx) => {
    const current = await lockKey(tx, key.merchantId, key.keyId);
    if (current.revoked_at_ms !== null) return;
    const nowMs = platform.clock.nowMs();
    await checkSignsNoWebhooks(tx, { ...key, storeId: current.store_id }, nowMs);
    await tx
      .updateTable('api_key')
      .set({ revoked_at_ms: nowMs })
      .where('merchant_id', '=', key.merchantId)
      .where('key_id', '=', key.keyId)
      .execute();
  });
}
