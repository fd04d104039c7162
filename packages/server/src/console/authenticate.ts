import { createHmac, timingSafeEqual } from 'node:crypto';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { Fail } from '../platform/fail.ts';
import type {
  Authenticated,
  Authentication,
  Caller,
  RawRequest,
  RequestHead,
  Route,
} from '../platform/http/index.ts';
import { networkOf } from '../platform/network-of.ts';
import { findMerchant } from '../stores/index.ts';
import { decodeId } from '../tenancy/index.ts';
import { isProofStale } from './accounts/decisions.ts';
import { type ConsoleDeps, findSession, type SessionRow, users } from './accounts/index.ts';
import { isSameOrigin, readSessionCookie } from './cookie.ts';
import { movesMoney, needsSecondFactor, permissionsOf, type Roles } from './roles.ts';

/** The token that a page sends beside its cookie; another site can read neither. */
export const csrfTokenOf = (sessionToken: string): string =>
  createHmac('sha256', sessionToken).update('florin-console-csrf').digest('base64url');

export const notSignedIn = () =>
  new Fail('authentication_required', 'You are not signed in, or your session has ended.');

const STRANGER: Caller = {
  actor: { kind: 'user', userId: NIL_ID, sessionId: NIL_ID, permissions: [], provedAtMs: 0 },
  merchantId: NIL_ID,
  storeId: NIL_ID,
  keyId: NIL_ID,
  mode: 'sandbox',
  scopes: [],
  ownerId: null,
  people: [],
  clockOffset: 0,
};

const isEqual = (given: string, expected: string) =>
  given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));

export const fromElsewhere = () =>
  new Fail('forbidden', { message: 'This request comes from another site.', param: 'Origin' });

/** Changes come from our own pages: of the same origin, and with the token that only they can read. */
export function checkCsrf(raw: RequestHead, token: string): void {
  const given = raw.headers['x-csrf-token'] ?? '';
  if (!isEqual(given, csrfTokenOf(token)))
    throw new Fail('forbidden', {
      message: 'The header X-CSRF-Token is missing or wrong.',
      param: 'X-CSRF-Token',
    });
}

async function movesMoneyAnywhere({ db }: ConsoleDeps, userId: string): Promise<boolean> {
  const { installationRole } = await users.rolesOf(db, userId, NIL_ID);
  const roles: Roles[] = (await users.membershipsOf(db, userId)).map(({ role }) => ({
    role,
    installationRole,
  }));
  return [{ role: null, installationRole }, ...roles].some(movesMoney);
}

/** What a request names, of which its sender must be a member. */
interface Named {
  /** Undefined where the route is of no merchant. */
  merchant: string | undefined;
  /** The store that what is made belongs to. */
  storeId?: string | undefined;
}

/** What browsers ask for where they follow a stream. */
const EVENTS = 'text/event-stream';

/** The session of a request. @throws Fail `authentication_required` */
export async function sessionOf(
  deps: ConsoleDeps,
  head: Pick<RequestHead, 'headers' | 'method'>,
  publicUrl: string,
): Promise<{ token: string; session: SessionRow }> {
  const token = readSessionCookie(head, publicUrl);
  const { 'x-service-background': background, accept } = head.headers;
  const isUsed = head.method !== 'GET' || (background === undefined && accept !== EVENTS);
  const session =
    token && (await findSession(deps, { token, isUsed }, (userId) => movesMoneyAnywhere(deps, userId)));
  if (token === undefined || !session) throw notSignedIn();
  return { token, session };
}

/** Whether a session was found, for what is judged before a request is answered. */
export const isSignedIn = async (session: Promise<unknown>): Promise<boolean> =>
  await session.then(
    () => true,
    (error: unknown) => {
      if (error instanceof Fail) return false;
      throw error;
    },
  );

/** A person with what they may do at the merchant that was named: nothing at one that they have no role with. */
export async function callerOf(deps: ConsoleDeps, session: SessionRow, { merchant: named, storeId }: Named) {
  const merchantId = named === undefined ? NIL_ID : (decodeId('merchant', named) ?? NIL_ID);
  const merchant = merchantId === NIL_ID ? undefined : await findMerchant(deps.db, merchantId);
  const roles = await users.rolesOf(deps.db, session.user_id, merchantId);
  const isComplete = session.has_second_factor || !needsSecondFactor(roles);
  const actor = {
    kind: 'user' as const,
    userId: session.user_id,
    sessionId: session.session_id,
    permissions: isComplete && (named === undefined || merchant !== undefined) ? permissionsOf(roles) : [],
    provedAtMs: Number(session.proved_at_ms),
  };
  const { mode = 'sandbox', clockOffset = 0, status } = merchant ?? {};
  const own = { actor, merchantId, storeId: storeId ?? NIL_ID, keyId: session.session_id };
  const caller: Caller = { ...STRANGER, ...own, people: [session.user_id], mode, clockOffset };
  return { caller, isSuspended: status !== 'active' };
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
    if (raw.method !== 'GET' && !isSameOrigin(raw, publicUrl())) throw fromElsewhere();
    if (openPaths.includes(raw.url.split('?', 1)[0] ?? '')) {
      // Limits of requests count by the address of who has no session.
      return { caller: { ...STRANGER, keyId: networkOf(raw.remoteAddress) }, hardenNonce };
    }
    const { token, session } = await sessionOf(deps, raw, publicUrl());
    if (raw.method !== 'GET') checkCsrf(raw, token);
    if (raw.bodyIsDiscarded) throw notSignedIn();
    const { caller } = await callerOf(deps, session, { merchant: raw.params.merchant_id });
    return { caller, hardenNonce };
  };
  const knowsKey = (head: RequestHead) => isSignedIn(sessionOf(deps, head, publicUrl()));
  return { authenticate, knowsKey };
}

/**
 * Whether somebody may use a route. Of the console's, one without a permission is for whoever is signed in, or nobody yet;
 * of the API's, for keys alone.
 */
export const permitUser =
  ({ clock }: Pick<ConsoleDeps, 'clock'>) =>
  ({ actor }: Caller, { permission, path }: Route): void => {
    const isOfConsole = path.startsWith('/console/');
    if (permission === undefined && isOfConsole) return;
    if (actor.kind !== 'user' || actor.userId === NIL_ID) throw notSignedIn();
    if (permission === undefined) throw new Fail('forbidden', 'This call takes an API key.');
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
