import { isNonce, isSignature, isTimestamp, TIMESTAMP_SKEW_MAX_SECONDS } from '@florin/contract/signing';
import type { Db } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import type {
  Authenticated,
  Authentication,
  Caller,
  RawRequest,
  RequestHead,
} from '../../platform/http/index.ts';
import type { Platform } from '../../platform/platform.ts';
import {
  findKeyAccess,
  type KeyAccess,
  type KeyRights,
  listKeyRights,
  type NonceRow,
  rewriteNonce,
  spendNonce,
  spendNonceOfKey,
} from '../queries.ts';
import { type ParsedApiKey, parseApiKey, type SignedParts, secretOfSignature } from './credentials.ts';
import { isCurrent, SecretCache } from './secret-cache.ts';

const SIGNED_HEADERS = ['authorization', 'x-service-timestamp', 'x-service-nonce', 'x-service-signature'];

/** One message for every reason: only the operator, by the metrics, learns which part was wrong. */
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

/** The parsed headers of a request, before any check. */
interface ParsedRequest {
  credentials: Credentials;
  key: ParsedApiKey | undefined;
  timestamp: number;
  nowMs: number;
}

/** A request that passed all checks, and the time at which its nonce was spent. */
interface Admitted {
  access: KeyAccess;
  nonce: string;
  spentAtMs: number;
}

/** @returns undefined unless every header is present once and well-formed */
function readCredentials(raw: RequestHead): Omit<Credentials, 'body'> | undefined {
  if (SIGNED_HEADERS.some((name) => raw.repeated.has(name))) return undefined;
  const apiKey = /^Bearer ([\x21-\x7e]+)$/i.exec(raw.headers.authorization ?? '')?.[1];
  const timestamp = raw.headers['x-service-timestamp'] ?? '';
  const nonce = raw.headers['x-service-nonce'] ?? '';
  const signature = raw.headers['x-service-signature'] ?? '';
  if (apiKey === undefined || !isTimestamp(timestamp) || !isNonce(nonce) || !isSignature(signature))
    return undefined;
  return { apiKey, timestamp, nonce, signature };
}

function parseRequest(raw: RawRequest, nowMs: number): ParsedRequest {
  const credentials = readCredentials(raw);
  if (credentials === undefined) throw refusal('headers');
  const timestamp = Number(credentials.timestamp);
  return {
    credentials: { ...credentials, body: raw.body },
    key: parseApiKey(credentials.apiKey),
    timestamp,
    nowMs,
  };
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

/** Filters keys to those whose requests are still admitted; for long-lived responses. */
export async function listAdmittedKeys(
  { db, clock }: Platform,
  keys: readonly { merchantId: string; keyId: string }[],
): Promise<Set<string>> {
  const nowMs = clock.nowMs();
  const rights = await listKeyRights(db, keys);
  const admitted = rights.filter((key) => isUsable(key, nowMs) && whyForbidden(key) === undefined);
  return new Set(admitted.map((key) => key.key_id));
}

const nonceOf = (access: KeyAccess, nonce: string): NonceRow => ({
  merchantId: access.merchant_id,
  keyId: access.key_id,
  nonce,
});

function callerOf(access: KeyAccess): Caller {
  return {
    actor: { kind: 'key', keyId: access.key_id },
    merchantId: access.merchant_id,
    storeId: access.store_id,
    keyId: access.key_id,
    mode: access.mode,
    scopes: access.scopes,
    ownerId: access.owner_approver_id,
    people: access.holders,
    clockOffset: Number(access.clock_offset),
  };
}

/** Refuses the request where its nonce cannot be recorded, as it could be replayed. */
async function recordNonce<T>(record: () => Promise<T>): Promise<T> {
  try {
    return await record();
  } catch (error) {
    throw new Fail('service_unavailable', {
      message: 'The nonce of the request could not be stored. Nothing was done; repeat the request.',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}

/**
 * Checks requests by section 5 of the specification: key, signature over the raw bytes, timestamp within 300 s of the
 * database's clock, nonce new for this key. Only a request that passes all checks writes anything.
 */
export function createAuthentication(platform: Platform): Authentication {
  const known = new SecretCache(platform.vault);

  /** Admits by a cached secret, in one statement. @returns undefined where nothing was decided or written */
  const admitKnown = async (request: ParsedRequest, db: Db): Promise<Admitted | undefined> => {
    const { credentials, key, timestamp, nowMs } = request;
    const secret = secretOfSignature(credentials.signature, known.of(key), credentials);
    if (key === undefined || secret === undefined || isStale(timestamp, nowMs)) return undefined;
    const { nonce } = credentials;
    const judged = { ...key, sealed: secret.sealed, nonce, nowMs };
    const access = await recordNonce(() => spendNonceOfKey(db, judged));
    if (access === undefined || !isCurrent(secret, access, nowMs) || !isUsable(access, nowMs))
      return undefined;
    if (access.spent_at_ms === null) throw refusal('nonce');
    return { access, nonce, spentAtMs: Number(access.spent_at_ms) };
  };

  const admitUnknown = async (request: ParsedRequest, db: Db): Promise<Admitted> => {
    const { credentials, key, timestamp, nowMs } = request;
    const access = key && (await findKeyAccess(platform.db, key.merchantId, key.digest));
    const secrets = key === undefined || access === undefined ? [] : known.add(key, access, nowMs);
    const secret = secretOfSignature(credentials.signature, secrets, credentials);
    if (access === undefined) throw refusal('key');
    if (secret === undefined) throw refusal('signature');
    if (isStale(timestamp, nowMs)) throw refusal('timestamp');
    if (!isUsable(access, nowMs)) throw refusal('ended');
    const { nonce } = credentials;
    const spentAtMs = await recordNonce(() => spendNonce(db, nonceOf(access, nonce)));
    if (spentAtMs === undefined) throw refusal('nonce');
    return { access, nonce, spentAtMs };
  };

  const knowsKey = async (head: RequestHead): Promise<boolean> => {
    const key = parseApiKey(readCredentials(head)?.apiKey ?? '');
    if (key === undefined) return false;
    if (known.of(key).length > 0) return true;
    const access = await findKeyAccess(platform.db, key.merchantId, key.digest);
    if (access === undefined) return false;
    known.add(key, access, platform.clock.nowMs());
    return true;
  };

  const authenticate = async (raw: RawRequest, willCommit: boolean): Promise<Authenticated> => {
    const request = parseRequest(raw, platform.clock.nowMs());
    if (raw.bodyIsDiscarded) throw refusal('key');
    const db = willCommit ? platform.fastDb : platform.db;
    const { access, nonce, spentAtMs } = (await admitKnown(request, db)) ?? (await admitUnknown(request, db));
    // A node that slept, or has missed a correction of the database's clock, was wrong about the time: it must not accept
    // a request so old that its nonce was deleted.
    if (isStale(request.timestamp, spentAtMs)) throw refusal('timestamp');
    const hardenNonce = () => recordNonce(() => rewriteNonce(platform.db, nonceOf(access, nonce)));
    const caller = callerOf(access);
    raw.caller = caller;
    try {
      checkRights(access);
    } catch (error) {
      if (willCommit) await hardenNonce();
      throw error;
    }
    return { caller, hardenNonce };
  };
  return { authenticate, knowsKey };
}
