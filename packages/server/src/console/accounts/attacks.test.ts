import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { listEntries } from '../../audit/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { type Tx, transact } from '../../platform/db/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { encodeId } from '../../tenancy/index.ts';
import { dropFactors, sweepAccounts } from './clear.ts';
import { beginTotp, removeTotp } from './factors.ts';
import { makeSandboxOwner, makeSignInLink, redeemLink } from './links.ts';
import { lockUser } from './lock-user.ts';
import { lockMembers } from './members.ts';
import { isPassword } from './passwords.ts';
import { endAllSessions, openSession } from './sessions.ts';
import { proveAgain, setPassword, signIn } from './sign-in.ts';
import { acting, device, opened, PASSWORD, usePeople } from './test-people.ts';
import { changeRole, inviteUser, listUsers, rolesOf } from './users.ts';

const LONG_MS = 60_000;
const DAY_MS = 86_400_000;
const people = usePeople();
const { newMerchant, newEmail, newPerson, withTotp, signInAs, alive } = people;
let platform: Platform;
beforeAll(() => {
  platform = people.platform();
});

const redeem = (token: string) => redeemLink(platform, { token, password: PASSWORD }, device());
const roleIn = async (userId: string, merchantId: string) =>
  (await rolesOf(platform.db, userId, merchantId)).role?.name ?? null;

test('an operator brings a merchant its first owner, and becomes none; then its people manage themselves', {
  timeout: LONG_MS,
}, async () => {
  const operator = await newPerson('operator', NIL_ID);
  const merchantId = await newMerchant();
  const invite = (email: string, role = 'owner') =>
    inviteUser(platform, { merchantId, email, role }, operator.userId);
  await expect(invite(operator.email)).rejects.toThrow('their own role');
  const first = await invite(newEmail());
  const second = await invite(newEmail(), 'admin');
  await redeem(first.token);
  expect(await roleIn(first.userId, merchantId)).toBe('owner');
  // What was made before the owner came gives nothing any more.
  await expect(redeem(second.token)).rejects.toThrow('This link');
  await expect(invite(newEmail(), 'viewer')).rejects.toThrow('its own people');
  const change = { merchantId, userId: first.userId, role: 'viewer' };
  await expect(changeRole(platform, change, operator.userId)).rejects.toThrow('its own people');
  const own = { merchantId, userId: operator.userId, role: 'owner' };
  await expect(changeRole(platform, own, operator.userId)).rejects.toThrow('their own role');
  // Nor does anybody else change what they may themselves.
  const toAdmin = { merchantId, userId: first.userId, role: 'admin' };
  await expect(changeRole(platform, toAdmin, first.userId)).rejects.toThrow('their own role');
  await expect(
    inviteUser(platform, { merchantId: NIL_ID, email: newEmail(), role: 'operator' }, operator.userId),
  ).rejects.toThrow('not given here');
});

test('invitations by somebody who may no longer make them give nothing', { timeout: LONG_MS }, async () => {
  const { merchantId } = await newPerson();
  const admin = await newPerson('admin', merchantId);
  const invited = await inviteUser(platform, { merchantId, email: newEmail(), role: 'admin' }, admin.userId);
  // As if it had been made at the moment of the removal: the link itself is still there.
  await sql`update console_membership set role = 'viewer' where user_id = ${admin.userId}`.execute(
    platform.db,
  );
  await expect(redeem(invited.token)).rejects.toThrow('This link');
  expect(await roleIn(invited.userId, merchantId)).toBeNull();
  // An operator has invited people of many merchants.
  const operator = await newPerson('operator', NIL_ID);
  const theirs = { merchantId: await newMerchant(), email: newEmail(), role: 'owner' };
  await inviteUser(platform, theirs, operator.userId);
  await changeRole(platform, { merchantId: NIL_ID, userId: operator.userId, role: null });
  expect(await listUsers(platform, theirs.merchantId)).toEqual([]);
});

test('rights are those at the moment of the change, and a link waits for changes of the members', {
  timeout: LONG_MS,
}, async () => {
  const { merchantId, userId: owner } = await newPerson();
  const admin = await newPerson('admin', merchantId);
  const invited = await inviteUser(platform, { merchantId, email: newEmail(), role: 'viewer' }, owner);
  const attempts = await transact(platform.db, async (tx) => {
    await lockMembers(tx, merchantId);
    const begun = [
      inviteUser(platform, { merchantId, email: newEmail(), role: 'viewer' }, admin.userId),
      redeem(invited.token),
    ].map((attempt) => attempt.then(String, (error: Error) => error.message));
    await untilWaiting(2);
    await sql`update console_membership set role = 'viewer' where user_id = ${admin.userId}`.execute(tx);
    await sql`delete from console_link where user_id = ${invited.userId}`.execute(tx);
    return begun;
  });
  const [invitation, redemption] = await Promise.all(attempts);
  expect(invitation).toContain('Only an owner');
  expect(redemption).toContain('This link');
});

/** Until so many sessions of this database wait for an advisory lock or a row. */
async function untilWaiting(count: number): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ waiting: number }>`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(platform.db);
    if ((rows[0]?.waiting ?? 0) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('an admin neither replaces nor cancels the invitation of an owner', { timeout: LONG_MS }, async () => {
  const { merchantId, userId: owner } = await newPerson();
  const admin = await newPerson('admin', merchantId);
  const email = newEmail();
  const invited = await inviteUser(platform, { merchantId, email, role: 'owner' }, owner);
  await expect(inviteUser(platform, { merchantId, email, role: 'viewer' }, admin.userId)).rejects.toThrow(
    'Only an owner',
  );
  const cancel = { merchantId, userId: invited.userId, role: null };
  await expect(changeRole(platform, cancel, admin.userId)).rejects.toThrow('Only an owner');
  await redeem(invited.token);
  expect(await roleIn(invited.userId, merchantId)).toBe('owner');
});

test('who removes or sets up a factor, or sets a password, ends the other sessions, and no flag survives', {
  timeout: LONG_MS,
}, async () => {
  const someone = await withTotp();
  const { deps, code, later, userId, session } = someone;
  later(30_000);
  const other = opened(
    await signIn(deps, { email: someone.email, password: PASSWORD, code: code() }, device()),
  );
  const link = await makeSignInLink(platform, someone.email);
  await removeTotp(deps, acting(session));
  expect(await alive(other.token)).toBeUndefined();
  expect(await alive(session.token)).toMatchObject({ has_second_factor: false });
  // The session that ended changes nothing any more.
  await expect(removeTotp(deps, acting(other))).rejects.toThrow('ended');
  await expect(setPassword(deps, acting(other), 'the-password-of-a-thief')).rejects.toThrow('ended');
  await beginTotp(deps, userId);
  const third = await signInAs(someone.email);
  await setPassword(deps, acting(session), 'another-long-password');
  expect(await alive(third.token)).toBeUndefined();
  await expect(redeem(link.token)).rejects.toThrow('This link');
});

const PASSKEY = (userId: string) => sql`
  insert into console_passkey (credential_id, user_id, name, public_key, counter, created_at_ms)
  values (uuid_send(gen_random_uuid()), ${userId}, 'Key', uuid_send(gen_random_uuid()), 0, 0)`;

/** Each is somebody else's transaction, which is over while a sign-in that has been checked waits to open its session. */
test.for<[what: string, change: (tx: Tx, userId: string) => Promise<unknown>]>([
  ['reset of factors', dropFactors],
  [
    'password',
    (tx, id) => sql`update console_user set password_hash = 'x' where user_id = ${id}`.execute(tx),
  ],
  [
    'authenticator',
    (tx, id) =>
      sql`update console_user set totp_secret = 'x', totp_confirmed = true where user_id = ${id}`.execute(tx),
  ],
  ['new passkey', (tx, id) => PASSKEY(id).execute(tx)],
  ['removed passkey', (tx, id) => sql`delete from console_passkey where user_id = ${id}`.execute(tx)],
  ['recovery codes', (tx, id) => sql`delete from console_recovery_code where user_id = ${id}`.execute(tx)],
  ['nothing', async () => {}],
])(
  'a sign-in by recovery code that is overtaken opens nothing: %s',
  { timeout: LONG_MS },
  async ([what, change]) => {
    const { email, userId, session, codes } = await withTotp();
    const [code = '', other = ''] = codes;
    await PASSKEY(userId).execute(platform.db);
    // Somebody who has a passkey alone.
    await sql`update console_user set totp_confirmed = false where user_id = ${userId}`.execute(platform.db);
    const attempts = await transact(platform.db, async (tx) => {
      await lockUser(tx, userId);
      const begun = [
        signIn(platform, { email, password: PASSWORD, code }, device()),
        proveAgain(platform, session, { password: PASSWORD, code: other }),
      ].map((attempt) =>
        attempt.then(
          () => 'done',
          (error: Error) => error.message,
        ),
      );
      await untilWaiting(2);
      await change(tx, userId);
      return begun;
    });
    const expected = what === 'nothing' ? 'done' : expect.stringContaining('is wrong');
    expect(await Promise.all(attempts)).toEqual([expected, expected]);
  },
);

test('a session that is being opened while its person is removed ends as well', {
  timeout: LONG_MS,
}, async () => {
  const { merchantId, userId, session } = await newPerson('viewer');
  const removal = await transact(platform.db, async (tx) => {
    await lockUser(tx, userId);
    const begun = changeRole(platform, { merchantId, userId, role: null });
    await untilWaiting(1);
    // As a sign-in does it, under the lock of its person.
    const opening = { userId, hasSecondFactor: false, device: device() };
    return { begun, opened: await openSession(tx, platform, opening) };
  });
  await removal.begun;
  expect(await alive(session.token)).toBeUndefined();
  expect(await alive(removal.opened.token)).toBeUndefined();
});

test('a sign-in link that is being used while its person is removed opens nothing', {
  timeout: LONG_MS,
}, async () => {
  const { userId, email } = await newPerson('viewer');
  const { token } = await makeSignInLink(platform, email);
  const { begun } = await transact(platform.db, async (tx) => {
    await lockUser(tx, userId);
    const using = redeem(token).then(
      () => 'opened',
      (error: Error) => error.message,
    );
    await untilWaiting(1);
    // As a removal does it, under the same lock.
    await dropFactors(tx, userId);
    return { begun: using };
  });
  expect(await begun).toContain('This link');
});

test('addresses of one IPv6 subscriber count together', { timeout: LONG_MS }, async () => {
  const tries = Array.from({ length: 31 }, (_, i) =>
    signIn(
      platform,
      { email: `guess${i}@example.com`, password: 'x' },
      { remoteAddress: `2001:db8:7:7::${i + 1}`, userAgent: '' },
    ).then(String, (error: Error) => error.message),
  );
  const refused = (await Promise.all(tries)).filter((message) => message.includes('from this address'));
  expect(refused).toHaveLength(1);
});

test('a hundred sign-ins at once wait for a few hashes, and the others are told to come back', {
  timeout: LONG_MS,
}, async () => {
  const tries = await Promise.allSettled(Array.from({ length: 100 }, () => isPassword(null, 'x')));
  const refused = tries.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  expect(refused).toHaveLength(58);
  expect(new Set(refused)).toEqual(new Set([expect.stringContaining('Try again in a few seconds')]));
  expect(await isPassword(null, 'x')).toBe(false);
});

test('strangers lock nobody out of a change, whose own tries are bounded before any hash', {
  timeout: LONG_MS,
}, async () => {
  const { email, session, userId } = await newPerson();
  for (let i = 0; i < 10; i += 1)
    await signIn(platform, { email, password: 'a guess' }, device()).catch(() => {});
  await expect(signIn(platform, { email, password: PASSWORD }, device())).rejects.toThrow('too many tries');
  await proveAgain(platform, session, { password: PASSWORD });
  const attempts = [];
  for (let i = 0; i < 11; i += 1)
    attempts.push(
      await proveAgain(platform, { userId, sessionId: session.sessionId }, { password: 'a guess' }).catch(
        (error: Error) => error.message,
      ),
    );
  expect(attempts.filter((message) => message === 'Too many tries. Wait for 15 minutes.')).toHaveLength(1);
});

test("a role by a link and the owner of a sandbox are in the audit log, and refusals of one's own are not", {
  timeout: LONG_MS,
}, async () => {
  const { merchantId, userId, session } = await newPerson('finance');
  const [accepted] = await listEntries(platform.db, merchantId, { limit: 1 });
  expect(accepted).toMatchObject({
    action: 'users.acceptInvitation',
    actor: encodeId('user', userId),
    phase: 'done',
    details: { before: { role: null }, after: { role: 'finance', invited_by: null } },
  });
  const own = await newMerchant();
  await makeSandboxOwner(platform, own);
  const [made] = await listEntries(platform.db, own, { limit: 1 });
  expect(made).toMatchObject({ action: 'users.makeSandboxOwner', details: { after: { role: 'owner' } } });
  const count = async () => (await listEntries(platform.db, NIL_ID, { limit: 100 })).length;
  const before = await count();
  await expect(setPassword(platform, acting(session), 'short')).rejects.toThrow('12 to 256');
  await expect(proveAgain(platform, session, { password: 'wrong' })).rejects.toThrow('wrong');
  expect(await count()).toBe(before);
  await setPassword(platform, acting(session), 'another-long-password');
  expect(await count()).toBe(before + 1);
});

test('whoever has no role left has no password, no factor and no link; a role elsewhere keeps them', {
  timeout: LONG_MS,
}, async () => {
  const { merchantId, userId, email } = await withTotp();
  await newPerson('owner', merchantId);
  const elsewhere = await newMerchant();
  const { token } = await inviteUser(platform, { merchantId: elsewhere, email, role: 'viewer' });
  await sql`insert into console_membership select ${elsewhere}, ${userId}, 'viewer', 0`.execute(platform.db);
  const read = async () =>
    await platform.db.selectFrom('console_user').selectAll().where('user_id', '=', userId).executeTakeFirst();
  const signingIn = await makeSignInLink(platform, email);
  await changeRole(platform, { merchantId, userId, role: null });
  expect((await read())?.password_hash).not.toBeNull();
  await changeRole(platform, { merchantId: elsewhere, userId, role: null });
  expect(await read()).toMatchObject({ password_hash: null, totp_secret: null, totp_confirmed: false });
  for (const gone of [token, signingIn.token]) await expect(redeem(gone)).rejects.toThrow('This link');
  const { rows } = await sql`select 1 from console_recovery_code where user_id = ${userId}`.execute(
    platform.db,
  );
  expect(rows).toEqual([]);
  await expect(signIn(platform, { email, password: PASSWORD }, device())).rejects.toThrow('wrong');
});

test('ending all sessions ends all links, and what has ended is deleted a day later', {
  timeout: LONG_MS,
}, async () => {
  const { email, session } = await newPerson();
  const { token } = await makeSignInLink(platform, email);
  await endAllSessions(platform.db, platform.clock.nowMs());
  await expect(redeem(token)).rejects.toThrow('This link');
  const kept = await newPerson();
  await makeSignInLink(platform, kept.email);
  const rows = async () =>
    (
      await sql<{ kind: string; owner: string }>`
        select 'session' as kind, user_id as owner from console_session
        union all select 'link', user_id from console_link`.execute(platform.db)
    ).rows;
  const nowMs = platform.clock.nowMs();
  await sweepAccounts(platform.db, nowMs);
  expect(await rows()).toContainEqual({ kind: 'session', owner: session.userId });
  expect(await alive(kept.session.token)).toBeDefined();
  await sweepAccounts(platform.db, nowMs + 10 * DAY_MS);
  expect(await rows()).toEqual([]);
});
