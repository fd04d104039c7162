import { isIP } from 'node:net';
import { sql } from 'kysely';
import { type Tx, transact } from '../../platform/db/index.ts';
import { Fail, invariant } from '../../platform/fail.ts';
import { isChallenge, makeChallenge, spendChallenge } from './challenges.ts';
import { ensureRecoveryCodes, forgetRecoveryCodes } from './factors.ts';
import { lockUser } from './lock-user.ts';
import { hasFactor, lockOwn } from './own-factors.ts';
import { canonicalKey } from './passkey-keys.ts';
import { type Acting, type Device, keepOnly, openSession, recordOwn } from './sessions.ts';
import { type ConsoleDeps, getUser } from './users.ts';

export { listPublicKeys } from './passkey-keys.ts';

const PASSKEYS_MAX = 10;
const TIMEOUT_MS = 300_000;
const ED25519 = -8;
const ES256 = -7;
const RS256 = -257;

/** Loaded with the first passkey: most processes never need it. */
const library = () => import('@simplewebauthn/server');

/** The name that passkeys belong to, and the pages that may ask for them. @throws Fail `conflict` for an IP address */
export function relyingParty(publicUrl: string): { rpID: string; origin: string } {
  const { hostname, origin } = new URL(publicUrl.replace(/\/\/(?:127\.0\.0\.1|\[::1\])/, '//localhost'));
  if (isIP(hostname.replaceAll(/[[\]]/g, '')) === 0) return { rpID: hostname, origin };
  throw new Fail(
    'conflict',
    'A passkey belongs to a name: open the console by its name, not by an IP address.',
  );
}

const handleOf = (userId: string) => Buffer.from(userId.replaceAll('-', ''), 'hex');

/** A new passkey, as browsers give it (base64url). */
export interface Attestation {
  id: string;
  rawId: string;
  response: { clientDataJSON: string; attestationObject: string };
}

/** An answer by a passkey, as browsers give it (base64url). */
export interface Assertion {
  id: string;
  rawId: string;
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle?: string | null | undefined;
  };
}

export interface Passkey {
  id: string;
  name: string;
}

/** A person's passkeys, oldest first. */
export async function listPasskeys({ db }: Pick<ConsoleDeps, 'db'>, userId: string): Promise<Passkey[]> {
  const rows = await db
    .selectFrom('console_passkey')
    .select(['credential_id', 'name'])
    .where('user_id', '=', userId)
    .orderBy('created_at_ms')
    .execute();
  return rows.map((row) => ({ id: row.credential_id.toString('base64url'), name: row.name }));
}

/** @returns what a browser makes a passkey by (PublicKeyCredentialCreationOptionsJSON) */
export async function beginPasskey(
  deps: ConsoleDeps,
  { userId, sessionId }: Acting,
  publicUrl: string,
): Promise<object> {
  const { rpID } = relyingParty(publicUrl);
  const { email } = await getUser(deps.db, userId);
  const { generateRegistrationOptions } = await library();
  return await generateRegistrationOptions({
    rpName: 'Florin',
    rpID,
    userName: email,
    userID: Uint8Array.from(handleOf(userId)),
    challenge: Uint8Array.from(makeChallenge(deps, { kind: 'register', sessionId })),
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: (await listPasskeys(deps, userId)).map(({ id }) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: [ED25519, ES256, RS256],
  });
}

/**
 * A new passkey without what its maker attests: nobody here asks for that, and to check certificates that somebody sent the
 * library would call the addresses that stand in them.
 */
async function unattested(given: string): Promise<string> {
  const { decodeAttestationObject, isoCBOR } = await import('@simplewebauthn/server/helpers');
  const decoded = decodeAttestationObject(Uint8Array.from(Buffer.from(given, 'base64url')));
  const bare = new Map<string, string | Uint8Array | Map<string, string>>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, string>()],
    ['authData', decoded.get('authData')],
  ]);
  return Buffer.from(isoCBOR.encode(bare)).toString('base64url');
}

const refused = () =>
  new Fail('authentication_required', {
    message: 'This passkey was not accepted. Try again, or sign in another way.',
    param: 'credential',
  });

/** What the library finds wrong with what somebody sent is a refusal. */
async function verified<T extends { verified: boolean }>(verify: () => Promise<T>): Promise<T> {
  const result = await verify().catch(() => undefined);
  if (result?.verified !== true) throw refused();
  return result;
}

/**
 * Adds a passkey, which is both factors at once. Other sessions end.
 *
 * @returns recovery codes where the person has none yet, and the session's new secret
 * @throws Fail `authentication_required` for an answer that is not right; `conflict`
 */
export async function addPasskey(
  deps: ConsoleDeps,
  acting: Acting,
  { name, credential, publicUrl }: { name: string; credential: Attestation; publicUrl: string },
): Promise<{ codes: string[]; token: string }> {
  const { rpID, origin } = relyingParty(publicUrl);
  const { userId, sessionId } = acting;
  const { verifyRegistrationResponse } = await library();
  let challenge = '';
  const { id: given, rawId, response } = credential;
  const { registrationInfo } = await verified(async () =>
    verifyRegistrationResponse({
      response: {
        id: given,
        rawId,
        response: {
          clientDataJSON: response.clientDataJSON,
          attestationObject: await unattested(response.attestationObject),
        },
        type: 'public-key',
        clientExtensionResults: {},
      },
      expectedChallenge: (text) => {
        challenge = text;
        return isChallenge(deps, text, { kind: 'register', sessionId });
      },
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      supportedAlgorithmIDs: [ED25519, ES256, RS256],
    }),
  );
  if (registrationInfo === undefined) throw refused();
  const { id, publicKey, counter } = registrationInfo.credential;
  const publicKeyBytes = await canonicalKey(Buffer.from(publicKey)).catch(() => undefined);
  if (publicKeyBytes === undefined) throw refused();
  const nowMs = deps.clock.nowMs();
  return await transact(deps.db, async (tx) => {
    await lockOwn(tx, acting);
    await spendChallenge(tx, challenge);
    if ((await listPasskeys({ db: tx }, userId)).length >= PASSKEYS_MAX)
      throw new Fail('conflict', `There are ${PASSKEYS_MAX} passkeys already. Remove one first.`);
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('console_passkey')
      .values({
        credential_id: Buffer.from(id, 'base64url'),
        user_id: userId,
        name,
        public_key: publicKeyBytes,
        counter,
        created_at_ms: nowMs,
        used_at_ms: null,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) throw new Fail('conflict', 'This passkey is known already.');
    const codes = await ensureRecoveryCodes(tx, userId);
    const token = await keepOnly(tx, acting, nowMs, { hasSecondFactor: true, isRotated: true });
    invariant(token !== undefined, 'a rotated session has another secret');
    await recordOwn(tx, deps, acting, { action: 'factors.addPasskey', input: { passkey_id: id, name } });
    return { codes, token };
  });
}

/** Takes a passkey away; other sessions end. @throws Fail `resource_not_found` */
export async function removePasskey(deps: ConsoleDeps, acting: Acting, id: string): Promise<void> {
  await transact(deps.db, async (tx) => {
    const user = await lockOwn(tx, acting);
    const { numDeletedRows } = await tx
      .deleteFrom('console_passkey')
      .where('credential_id', '=', Buffer.from(id, 'base64url'))
      .where('user_id', '=', user.user_id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw new Fail('resource_not_found', 'There is no such passkey.');
    const isLeft = await hasFactor(tx, user);
    if (!isLeft) await forgetRecoveryCodes(tx, user.user_id);
    await keepOnly(tx, acting, deps.clock.nowMs(), isLeft ? {} : { hasSecondFactor: false });
    await recordOwn(tx, deps, acting, { action: 'factors.removePasskey', input: { passkey_id: id } });
  });
}

/** @returns what a browser asks a passkey by (PublicKeyCredentialRequestOptionsJSON); without a session any passkey */
export async function askForPasskey(deps: ConsoleDeps, publicUrl: string, acting?: Acting): Promise<object> {
  const use =
    acting === undefined
      ? ({ kind: 'sign_in', sessionId: '' } as const)
      : ({ kind: 'prove', sessionId: acting.sessionId } as const);
  const own = acting === undefined ? [] : await listPasskeys(deps, acting.userId);
  return {
    challenge: makeChallenge(deps, use).toString('base64url'),
    rpId: relyingParty(publicUrl).rpID,
    timeout: TIMEOUT_MS,
    userVerification: 'required',
    allowCredentials: own.map(({ id }) => ({ id, type: 'public-key' })),
  };
}

interface Answered {
  userId: string;
  credentialId: Buffer;
  counter: number;
  challenge: string;
}

/** @throws Fail `authentication_required` */
async function checkAssertion(
  deps: ConsoleDeps,
  { id, rawId, response }: Assertion,
  { publicUrl, sessionId }: { publicUrl: string; sessionId: string | undefined },
): Promise<Answered> {
  const { rpID, origin } = relyingParty(publicUrl);
  const credentialId = Buffer.from(id, 'base64url');
  const known = await deps.db
    .selectFrom('console_passkey')
    .selectAll()
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
  if (known === undefined) throw refused();
  const { userHandle, ...signed } = response;
  if (userHandle && !handleOf(known.user_id).equals(Buffer.from(userHandle, 'base64url'))) throw refused();
  const { verifyAuthenticationResponse } = await library();
  let challenge = '';
  const { authenticationInfo } = await verified(() =>
    verifyAuthenticationResponse({
      response: { id, rawId, response: signed, type: 'public-key', clientExtensionResults: {} },
      expectedChallenge: (text) => {
        challenge = text;
        const kind = sessionId === undefined ? 'sign_in' : 'prove';
        return isChallenge(deps, text, { kind, sessionId: sessionId ?? '' });
      },
      expectedOrigin: origin,
      expectedRPID: rpID,
      credential: {
        id: credentialId.toString('base64url'),
        publicKey: Uint8Array.from(known.public_key),
        counter: Number(known.counter),
      },
      requireUserVerification: true,
    }),
  );
  return { userId: known.user_id, credentialId, counter: authenticationInfo.newCounter, challenge };
}

/** Counts an answer once, by its challenge and by the counter of a passkey that has one. */
async function spendAssertion(
  tx: Tx,
  { userId, credentialId, counter, challenge }: Answered,
  nowMs: number,
): Promise<void> {
  await lockUser(tx, userId);
  await spendChallenge(tx, challenge);
  const passkey = tx
    .updateTable('console_passkey')
    .set({ counter, used_at_ms: nowMs })
    .where('credential_id', '=', credentialId)
    .where('user_id', '=', userId);
  const { numUpdatedRows } = await passkey
    .where((is) => (counter === 0 ? is('counter', '=', 0n) : is('counter', '<', BigInt(counter))))
    .executeTakeFirst();
  // Removed meanwhile, or copied: the counter of a copy falls behind.
  if (numUpdatedRows === 0n) throw refused();
}

const COUNTER_AT = 33;

/** Remembers an answer that was checked elsewhere, and that its meaning binds: a counter that goes back is only kept. */
export async function noteUse({ db, clock }: ConsoleDeps, { id, response }: Assertion): Promise<void> {
  const counter = Buffer.from(response.authenticatorData, 'base64url').readUInt32BE(COUNTER_AT);
  await db
    .updateTable('console_passkey')
    .set({ used_at_ms: clock.nowMs(), counter: sql`greatest(counter, ${counter})` })
    .where('credential_id', '=', Buffer.from(id, 'base64url'))
    .execute();
}

/** Signs a person in by a passkey, which is both factors. @throws Fail `authentication_required` */
export async function signInByPasskey(
  deps: ConsoleDeps,
  { credential, publicUrl }: { credential: Assertion; publicUrl: string },
  device: Device,
) {
  const answered = await checkAssertion(deps, credential, { publicUrl, sessionId: undefined });
  const { userId } = answered;
  return await transact(deps.db, async (tx) => {
    await spendAssertion(tx, answered, deps.clock.nowMs());
    return await openSession(tx, deps, { userId, hasSecondFactor: true, device });
  });
}

/** Proves again by a passkey who sits there. @throws Fail `authentication_required` */
export async function proveByPasskey(
  deps: ConsoleDeps,
  acting: Acting,
  { credential, publicUrl }: { credential: Assertion; publicUrl: string },
): Promise<void> {
  const { userId, sessionId } = acting;
  const answered = await checkAssertion(deps, credential, { publicUrl, sessionId });
  if (answered.userId !== userId) throw refused();
  const nowMs = deps.clock.nowMs();
  await transact(deps.db, async (tx) => {
    await spendAssertion(tx, answered, nowMs);
    await tx
      .updateTable('console_session')
      .set({ proved_at_ms: nowMs })
      .where('session_id', '=', sessionId)
      .where('user_id', '=', userId)
      .where('ended_at_ms', 'is', null)
      .execute();
  });
}
