import { generateKeyPairSync } from 'node:crypto';
import { TOTP } from 'otpauth';
import { beforeAll, expect, test } from 'vitest';
import type { Platform } from '../../platform/platform.ts';
import { beginTotp, confirmTotp } from './factors.ts';
import {
  addPasskey,
  askForPasskey,
  beginPasskey,
  listPasskeys,
  proveByPasskey,
  relyingParty,
  removePasskey,
  signInByPasskey,
} from './passkeys.ts';
import { proveAgain, signIn } from './sign-in.ts';
import { makeAuthenticator } from './test-authenticator.ts';
import { acting, device, opened, PASSWORD, usePeople } from './test-people.ts';

const LONG_MS = 60_000;
const URL_OF_SANDBOX = 'http://127.0.0.1:8420';
const origin = 'http://localhost:8420';
const publicUrl = URL_OF_SANDBOX;
const people = usePeople();
let platform: Platform;
beforeAll(() => {
  platform = people.platform();
});

const challengeOf = (options: object): string => {
  if ('challenge' in options && typeof options.challenge === 'string') return options.challenge;
  throw new Error('options have a challenge');
};

async function withPasskey(authenticator = makeAuthenticator()) {
  const someone = await people.newPerson();
  const me = acting(someone.session);
  const challenge = challengeOf(await beginPasskey(platform, me, publicUrl));
  const credential = authenticator.create({ challenge, origin });
  const { codes, token } = await addPasskey(platform, me, { name: 'Laptop', credential, publicUrl });
  const asked = async (as?: typeof me) => challengeOf(await askForPasskey(platform, publicUrl, as));
  const come = (said: Parameters<typeof authenticator.get>[0], handle?: string) =>
    signInByPasskey(platform, { credential: authenticator.get(said, handle), publicUrl }, device());
  return { ...someone, me, authenticator, credential, challenge, codes, token, asked, come };
}

test('F5: a passkey is added and signs in as both factors, each challenge once', {
  timeout: LONG_MS,
}, async () => {
  const { userId, token, codes, challenge, credential, me, asked, come } = await withPasskey();
  expect(codes).toHaveLength(10);
  expect(await people.alive(token)).toMatchObject({ has_second_factor: true });
  const again = addPasskey(platform, me, { name: 'Again', credential, publicUrl });
  await expect(again).rejects.toThrow('used before');
  await expect(come({ challenge, origin })).rejects.toThrow('not accepted');
  const said = { challenge: await asked(), origin, counter: 1 };
  const both = await Promise.allSettled([come(said), come(said)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const session = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))[0];
  expect(session?.userId).toBe(userId);
  expect(await people.alive(session?.token ?? '')).toMatchObject({ has_second_factor: true });
  // A copy of the passkey whose counter fell behind.
  await expect(come({ challenge: await asked(), origin, counter: 1 })).rejects.toThrow('not accepted');
  await come({ challenge: await asked(), origin, counter: 2 });
  expect(await listPasskeys(platform, userId)).toMatchObject([{ name: 'Laptop' }]);
});

test('a public key is one passkey: nobody adds that of somebody else', { timeout: LONG_MS }, async () => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await withPasskey(makeAuthenticator(keys));
  // Under an id of its own.
  await expect(withPasskey(makeAuthenticator(keys))).rejects.toThrow('known already');
});

test('F5: answers for another page, name, session or use, of nobody present or too late are refused', {
  timeout: LONG_MS,
}, async () => {
  const { me, userId, asked, come, authenticator } = await withPasskey();
  const refused = async (said: object, handle?: string) =>
    await expect(come({ challenge: await asked(), origin, ...said }, handle)).rejects.toThrow('not accepted');
  await refused({ origin: 'https://evil.example' });
  await refused({ origin: 'http://127.0.0.1:8420' });
  await refused({ rpId: 'evil.example' });
  await refused({ challenge: await asked(me) });
  await refused({ challenge: 'A'.repeat(96) });
  // Present, but not verified by finger or PIN: one factor.
  await refused({ flags: 0x01 });
  await refused({}, Buffer.from('somebody else').toString('base64url'));
  const foreign = { credential: makeAuthenticator().get({ challenge: await asked(), origin }), publicUrl };
  await expect(signInByPasskey(platform, foreign, device())).rejects.toThrow('not accepted');
  const { deps, later } = people.later();
  const challenge = await asked();
  later(6 * 60_000);
  const late = { credential: authenticator.get({ challenge, origin }), publicUrl };
  await expect(signInByPasskey(deps, late, device())).rejects.toThrow('not accepted');
  const handle = Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');
  expect((await come({ challenge: await asked(), origin }, handle)).userId).toBe(userId);
});

test('a proof by passkey is of the session that asked for it, and of the person', {
  timeout: LONG_MS,
}, async () => {
  const { me, asked, authenticator, email } = await withPasskey();
  const other = await withPasskey();
  const prove = (challenge: string, as = me, by = authenticator) =>
    proveByPasskey(platform, as, { credential: by.get({ challenge, origin }), publicUrl });
  await expect(prove(await asked())).rejects.toThrow('not accepted');
  await expect(prove(await asked(other.me))).rejects.toThrow('not accepted');
  await expect(prove(await asked(me), me, other.authenticator)).rejects.toThrow('not accepted');
  await prove(await asked(me));
  // The password alone proves nothing of whoever has a passkey.
  await expect(proveAgain(platform, me, { password: PASSWORD })).rejects.toThrow('wrong');
  expect(await signIn(platform, { email, password: PASSWORD }, device())).toBe('code_required');
});

test('a password alone gets past no passkey, recovery codes do, and the last factor takes them along', {
  timeout: LONG_MS,
}, async () => {
  const { email, codes, userId, credential } = await withPasskey();
  const session = opened(await signIn(platform, { email, password: PASSWORD, code: codes[0] }, device()));
  const me = acting(session);
  expect(await people.alive(session.token)).toMatchObject({ has_second_factor: true });
  // A session without the factor, as a race might leave one, adds no factor of its own.
  await platform.db
    .updateTable('console_session')
    .set({ has_second_factor: false })
    .where('session_id', '=', session.sessionId)
    .execute();
  await expect(removePasskey(platform, me, credential.id)).rejects.toThrow('second factor first');
  const { secret } = await beginTotp(platform, userId);
  const code = new TOTP({ secret }).generate({ timestamp: platform.clock.nowMs() });
  await expect(confirmTotp(platform, me, code)).rejects.toThrow('second factor first');
  await platform.db
    .updateTable('console_session')
    .set({ has_second_factor: true })
    .where('session_id', '=', session.sessionId)
    .execute();
  await expect(removePasskey(platform, me, 'AAAA')).rejects.toThrow('no such passkey');
  await removePasskey(platform, me, credential.id);
  expect(await people.alive(session.token)).toMatchObject({ has_second_factor: false });
  const left = platform.db.selectFrom('console_recovery_code').selectAll().where('user_id', '=', userId);
  expect(await left.execute()).toEqual([]);
});

test('what the maker of a passkey attests is not looked at, and a foreign certificate is not followed', {
  timeout: LONG_MS,
}, async () => {
  const { session } = await people.newPerson();
  const me = acting(session);
  const authenticator = makeAuthenticator();
  const challenge = challengeOf(await beginPasskey(platform, me, publicUrl));
  const credential = authenticator.create({ challenge, origin }, authenticator.foreignStatement);
  // With the statement the library would refuse it, after it had read the certificate.
  await addPasskey(platform, me, { name: 'Attested', credential, publicUrl });
  expect(await listPasskeys(platform, me.userId)).toMatchObject([{ name: 'Attested' }]);
});

test('a passkey belongs to a name: localhost for loopback, and no IP address', () => {
  expect(relyingParty('http://127.0.0.1:8420')).toEqual({ rpID: 'localhost', origin });
  expect(relyingParty('https://pay.example.com')).toEqual({
    rpID: 'pay.example.com',
    origin: 'https://pay.example.com',
  });
  for (const address of ['https://192.0.2.7', 'https://[2001:db8::1]:8443'])
    expect(() => relyingParty(address), address).toThrow('belongs to a name');
});
