import { createHmac, timingSafeEqual } from 'node:crypto';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Authenticated, Authentication, Caller, RawRequest, Route } from '../platform/http/index.ts';
import { findMerchant } from '../stores/index.ts';
import { decodeId } from '../tenancy/index.ts';
import { isProofStale } from './accounts/decisions.ts';
import { type ConsoleDeps, findSession, rolesOf, users } from './accounts/index.ts';
import { isSameOrigin, readSessionCookie } from './cookie.ts';
import { movesMoney, needsSecondFactor, permissionsOf, type Roles } from './roles.ts';

/** The token that a page sends beside its cookie; another site can read neither. */
export const csrfTokenOf = (sessionToken: string): string =>
  createHmac('sha256', sessionToken).update('florin-console-csrf').digest('base64url');

const notSignedIn = () =>
  new Fail('authentication_required', 'You are not signed in, or your session has ended.');

const STRANGER: Caller = {
  actor: { kind: 'user', userId: NIL_ID, sessionId: NIL_ID, permissions: [], provedAtMs: 0 },
  merchantId: NIL_ID,
  storeId: NIL_ID,
  keyId: NIL_ID,
  mode: 'sandbox',
  scopes: [],
  ownerId: null,
  clockOffset: 0,
};

const isEqual = (given: string, expected: string) =>
  given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));

/** Changes come from our own pages: of the same origin, and with the token that only they can read. */
function checkCsrf(raw: RawRequest, token: string): void {
  if (raw.method === 'GET') return;
  const given = raw.headers['x-csrf-token'] ?? '';
  if (!isEqual(given, csrfTokenOf(token)))
    throw new Fail('forbidden', {
      message: 'The header X-CSRF-Token is missing or wrong.',
      param: 'X-CSRF-Token',
    });
}

async function movesMoneyAnywhere({ db }: ConsoleDeps, userId: string): Promise<boolean> {
  const { installationRole } = await rolesOf(db, userId, NIL_ID);
  const roles: Roles[] = (await users.membershipsOf(db, userId)).map(({ role }) => ({
    role,
    installationRole,
  }));
  return [{ role: null, installationRole }, ...roles].some(movesMoney);
}

/**
 * The second way in: a session instead of a signed request. An API key never comes in here, and a change takes the same
 * origin and a token beside the cookie.
 *
 * @param openPaths of routes that people call before they have a session
 */
export function createConsoleAuthentication(
  deps: ConsoleDeps,
  { publicUrl, openPaths }: { publicUrl: () => string; openPaths: readonly string[] },
): Authentication {
  const authenticate = async (raw: RawRequest): Promise<Authenticated> => {
    const hardenNonce = async () => {};
    if (raw.headers.authorization !== undefined) throw notSignedIn();
    if (raw.method !== 'GET' && !isSameOrigin(raw, publicUrl()))
      throw new Fail('forbidden', { message: 'This request comes from another site.', param: 'Origin' });
    if (openPaths.includes(raw.url.split('?', 1)[0] ?? '')) {
      // Limits of requests count by the address of who has no session.
      return { caller: { ...STRANGER, keyId: raw.remoteAddress }, hardenNonce };
    }
    const token = readSessionCookie(raw, publicUrl());
    const session = token && (await findSession(deps, token, (userId) => movesMoneyAnywhere(deps, userId)));
    if (token === undefined || !session) throw notSignedIn();
    checkCsrf(raw, token);
    const { merchant_id: named } = raw.params;
    const merchantId = named === undefined ? NIL_ID : (decodeId('merchant', named) ?? NIL_ID);
    const merchant = merchantId === NIL_ID ? undefined : await findMerchant(deps.db, merchantId);
    const roles = await rolesOf(deps.db, session.user_id, merchantId);
    const isComplete = session.has_second_factor || !needsSecondFactor(roles);
    const actor = {
      kind: 'user' as const,
      userId: session.user_id,
      sessionId: session.session_id,
      permissions: isComplete && (named === undefined || merchant !== undefined) ? permissionsOf(roles) : [],
      provedAtMs: Number(session.proved_at_ms),
    };
    const { mode = 'sandbox', clockOffset = 0 } = merchant ?? {};
    const caller = { ...STRANGER, actor, merchantId, keyId: session.session_id, mode, clockOffset };
    return { caller, hardenNonce };
  };
  return { authenticate, knowsKey: async () => false };
}

/** Whether somebody may use a route of the console; one without a permission is for whoever is signed in, or nobody yet. */
export const permitUser =
  ({ clock }: Pick<ConsoleDeps, 'clock'>) =>
  ({ actor }: Caller, { permission }: Route): void => {
    if (permission === undefined) return;
    if (actor.kind !== 'user' || actor.userId === NIL_ID) throw notSignedIn();
    if (permission.name !== OWN && !actor.permissions.includes(permission.name))
      throw new Fail(
        'forbidden',
        `Your role does not permit this (${permission.name}), or a second factor is missing.`,
      );
    if (permission.isProofFresh && isProofStale(actor.provedAtMs, clock.nowMs()))
      throw new Fail('forbidden', { message: 'Give your password and code again first.', param: 'proof' });
  };

/** What is one's own: sessions, factors, password. */
export const OWN = 'own';
