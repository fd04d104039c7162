import { isNonce, isSignature, isTimestamp, TIMESTAMP_SKEW_MAX_SECONDS } from '@florin/contract/signing';
import { Fail } from '../platform/fail.ts';
import type { Authenticate, Authenticated, Caller, RawRequest } from '../platform/http/index.ts';
import type { Platform } from '../platform/platform.ts';
import { parseApiKey, type SignedParts, signatureMatches } from './credentials.ts';
import {
  findKeyAccess,
  type KeyAccess,
  type KeyRights,
  listKeyRights,
  type NonceRow,
  rewriteNonce,
  spendNonce,
} from './queries.ts';
import { secretContext } from './secrets.ts';

const SIGNED_HEADERS = ['authorization', 'x-service-timestamp', 'x-service-nonce', 'x-service-signature'];
const DUMMY_SECRET = Buffer.from('an unknown key costs the same work');
const SECRETS_KEPT = 10_000;

/** One text for every reason: nobody but the operator, by the metrics, learns which part was wrong. */
const refusal = (reason: 'headers' | 'key' | 'signature' | 'timestamp' | 'ended' | 'nonce') =>
  new Fail('authentication_required', {
    message:
      'Authentication failed. Check the API key, the timestamp, the nonce (used once) and the signature.',
    cause: reason,
  });

interface Credentials extends SignedParts {
  apiKey: string;
  signature: string;
}

interface Identified {
  access: KeyAccess;
  spent: NonceRow;
  timestamp: number;
}

/** Undefined unless each header is there once and has its form. */
function readCredentials(raw: RawRequest): Credentials | undefined {
  if (SIGNED_HEADERS.some((name) => raw.repeated.has(name))) return undefined;
  const apiKey = /^Bearer ([\x21-\x7e]+)$/i.exec(raw.headers.authorization ?? '')?.[1];
  const timestamp = raw.headers['x-service-timestamp'] ?? '';
  const nonce = raw.headers['x-service-nonce'] ?? '';
  const signature = raw.headers['x-service-signature'] ?? '';
  if (apiKey === undefined || !isTimestamp(timestamp) || !isNonce(nonce) || !isSignature(signature))
    return undefined;
  return { apiKey, timestamp, nonce, signature, body: raw.body };
}

/** Opens sealed secrets, keeping what it opened: a rotation changes the sealed bytes and so the place. */
function createSecretReader(platform: Platform) {
  const opened = new Map<string, Buffer>();
  return (merchantId: string, keyId: string, sealed: Buffer): Buffer => {
    const place = sealed.toString('base64');
    const known = opened.get(place);
    if (known !== undefined) return known;
    const secret = platform.vault.open(sealed, secretContext(merchantId, keyId));
    if (opened.size >= SECRETS_KEPT) opened.clear();
    opened.set(place, secret);
    return secret;
  };
}

/** The current secret and, during the overlap of a rotation, the one before. */
function secretsOf(access: KeyAccess, nowMs: number): Buffer[] {
  const overlaps = access.previous_secret_until_ms !== null && access.previous_secret_until_ms > nowMs;
  return access.previous_secret !== null && overlaps
    ? [access.secret, access.previous_secret]
    : [access.secret];
}

function isStale(timestamp: number, nowMs: number): boolean {
  return Math.abs(Math.floor(nowMs / 1000) - timestamp) > TIMESTAMP_SKEW_MAX_SECONDS;
}

function isUsable(access: KeyRights, nowMs: number): boolean {
  const expired = access.expires_at_ms !== null && access.expires_at_ms <= nowMs;
  return !expired && access.revoked_at_ms === null;
}

function whyForbidden(access: KeyRights): string | undefined {
  if (access.merchant_status !== 'active') return 'This merchant is suspended.';
  const isOpen = access.enabled && access.review_status === 'approved';
  return isOpen ? undefined : 'The store of this API key is not enabled.';
}

function checkRights(access: KeyAccess): void {
  const reason = whyForbidden(access);
  if (reason !== undefined) throw new Fail('forbidden', reason);
}

/** Those of some keys that may still ask for something: for calls that last. */
export async function listAdmittedKeys(
  { db, clock }: Platform,
  keys: readonly { merchantId: string; keyId: string }[],
): Promise<Set<string>> {
  const nowMs = clock.nowMs();
  const rights = await listKeyRights(db, keys);
  const admitted = rights.filter((key) => isUsable(key, nowMs) && whyForbidden(key) === undefined);
  return new Set(admitted.map((key) => key.key_id));
}

function callerOf(merchantId: string, access: KeyAccess): Caller {
  return {
    merchantId,
    storeId: access.store_id,
    keyId: access.key_id,
    mode: access.mode,
    scopes: access.scopes,
    ownerId: access.owner_approver_id,
    clockOffset: Number(access.clock_offset),
  };
}

/** A nonce that cannot be recorded could be replayed: the request is refused rather than believed. */
async function recordNonce<T>(record: () => Promise<T>): Promise<T> {
  try {
    return await record();
  } catch (error) {
    throw new Fail('service_unavailable', {
      message: 'The request could not be protected against replay right now. Nothing was done; repeat it.',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}

/**
 * The checks of the specification, section 5: key, signature over the raw bytes, timestamp within 300 s by the
 * database's clock, nonce never seen before for this key. Only a request that passes them all writes anything.
 */
export function createAuthenticate(platform: Platform): Authenticate {
  const readSecret = createSecretReader(platform);

  const identify = async (raw: RawRequest): Promise<Identified> => {
    const credentials = readCredentials(raw);
    if (credentials === undefined) throw refusal('headers');
    const nowMs = platform.clock.nowMs();
    const key = parseApiKey(credentials.apiKey);
    const access = key && (await findKeyAccess(platform.db, key.merchantId, key.digest));
    const sealed = access === undefined ? [] : secretsOf(access, nowMs);
    const secrets = sealed.map((secret) => readSecret(key?.merchantId ?? '', access?.key_id ?? '', secret));
    // An unknown key is compared too, with a secret that fits nothing, so that it takes as long.
    const matches = signatureMatches(
      credentials.signature,
      secrets.length > 0 ? secrets : [DUMMY_SECRET],
      credentials,
    );
    const timestamp = Number(credentials.timestamp);
    if (key === undefined || access === undefined) throw refusal('key');
    if (!matches) throw refusal('signature');
    if (isStale(timestamp, nowMs)) throw refusal('timestamp');
    if (!isUsable(access, nowMs)) throw refusal('ended');
    const spent = { merchantId: key.merchantId, keyId: access.key_id, nonce: credentials.nonce };
    return { access, spent, timestamp };
  };

  return async (raw, willCommit): Promise<Authenticated> => {
    const { access, spent, timestamp } = await identify(raw);
    const spentAtMs = await recordNonce(() => spendNonce(willCommit ? platform.fastDb : platform.db, spent));
    if (spentAtMs === undefined) throw refusal('nonce');
    // A node that slept, or has not yet heard that the database's clock was set, was wrong about the time: it must not
    // take a request so old that its nonce is forgotten.
    if (isStale(timestamp, spentAtMs)) throw refusal('timestamp');
    const hardenNonce = () => recordNonce(() => rewriteNonce(platform.db, spent));
    try {
      checkRights(access);
    } catch (error) {
      if (willCommit) await hardenNonce();
      throw error;
    }
    return { caller: callerOf(spent.merchantId, access), hardenNonce };
  };
}
