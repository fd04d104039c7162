import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { listEntries } from '../../audit/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { setMerchantStatus } from '../../stores/index.ts';
import { makeSandboxOwner, makeSignInLink, redeemLink } from './links.ts';
import { lookAtLink } from './look-at-link.ts';
import { device, opened, PASSWORD, usePeople } from './test-people.ts';
import { changeRole, inviteUser } from './users.ts';

const LONG_MS = 60_000;
const people = usePeople();
const { newMerchant, newEmail, newPerson, withTotp } = people;
let platform: Platform;
beforeAll(() => {
  platform = people.platform();
});

const look = (token: string) => lookAtLink(platform, token);
const redeem = (token: string, password?: string) => redeemLink(platform, { token, password }, device());

/** Refused as redeeming it is, in the same words. */
async function expectUnusable(token: string, what: string) {
  const refusal = async (attempt: Promise<unknown>) =>
    await attempt.then(
      () => 'done',
      ({ code, message }: { code: string; message: string }) => ({ code, message }),
    );
  const [looked, redeemed] = [await refusal(look(token)), await refusal(redeem(token, PASSWORD))];
  expect(looked, what).toEqual(redeemed);
  expect(looked, what).toEqual({
    code: 'authentication_required',
    message: expect.stringContaining('This link was used, has ended or was replaced'),
  });
}

test('a link says what it is for and what it takes, as often as it is asked, and then works once', {
  timeout: LONG_MS,
}, async () => {
  const { merchantId, userId: inviter, email: invitedBy } = await newPerson();
  const [stranger, operator] = [newEmail(), newEmail()];
  const invite = async (email: string, of = merchantId, role = 'finance', by: string | undefined = inviter) =>
    (await inviteUser(platform, { merchantId: of, email, role }, by)).token;
  const known = await newPerson('viewer');
  const invitation = { kind: 'invitation', role: 'finance', merchantName: 'M', invitedBy };
  const cases = [
    [await invite(stranger), { ...invitation, email: stranger, needs: 'new_password' }],
    [await invite(known.email), { ...invitation, email: known.email, needs: 'password' }],
    [
      (await inviteUser(platform, { merchantId: NIL_ID, email: operator, role: 'operator' })).token,
      {
        kind: 'invitation',
        email: operator,
        needs: 'new_password',
        merchantName: null,
        role: 'operator',
        invitedBy: null,
      },
    ],
    [
      (await makeSignInLink(platform, known.email)).token,
      {
        kind: 'sign_in',
        email: known.email,
        needs: 'nothing',
        merchantName: null,
        role: null,
        invitedBy: null,
      },
    ],
  ] as const;
  const before = await listEntries(platform.db, NIL_ID, { limit: 100 });
  for (const [token, expected] of cases)
    for (let i = 0; i < 2; i += 1) expect(await look(token)).toEqual(expected);
  expect(await listEntries(platform.db, NIL_ID, { limit: 100 })).toEqual(before);
  for (const [token, { needs }] of cases) {
    opened(await redeem(token, needs === 'nothing' ? undefined : PASSWORD));
    await expectUnusable(token, needs);
  }
});

test('whether somebody has a second factor is not said, and who came by the terminal is not new', {
  timeout: LONG_MS,
}, async () => {
  const theirs = await newMerchant();
  const { email } = await withTotp();
  const { token } = await inviteUser(platform, { merchantId: theirs, email, role: 'viewer' });
  expect(await look(token)).toMatchObject({ needs: 'password', invitedBy: null });
  await makeSandboxOwner(platform, await newMerchant());
  const owner = { merchantId: theirs, email: 'owner@localhost', role: 'viewer' };
  expect(await look((await inviteUser(platform, owner)).token)).toMatchObject({ needs: 'password' });
});

test('the address of an operator is not told to whom they invite', { timeout: LONG_MS }, async () => {
  const operator = await newPerson('operator', NIL_ID);
  const first = { merchantId: await newMerchant(), email: newEmail(), role: 'owner' };
  const { token } = await inviteUser(platform, first, operator.userId);
  expect(await look(token)).toMatchObject({ role: 'owner', invitedBy: null });
});

test('a link that redeeming would refuse is refused at once', { timeout: LONG_MS }, async () => {
  await expectUnusable('guess', 'guessed');
  const { merchantId, userId: owner } = await newPerson();
  const invite = async (by = owner, email = newEmail()) =>
    await inviteUser(platform, { merchantId, email, role: 'viewer' }, by);
  const expired = await invite();
  await sql`update console_link set expires_at_ms = 1 where user_id = ${expired.userId}`.execute(platform.db);
  await expectUnusable(expired.token, 'ended');
  const email = newEmail();
  const [replaced, withdrawn] = [await invite(owner, email), await invite(owner, email)];
  await expectUnusable(replaced.token, 'replaced');
  await changeRole(platform, { merchantId, userId: withdrawn.userId, role: null });
  await expectUnusable(withdrawn.token, 'withdrawn');
  const removed = await newPerson('viewer');
  const signingIn = await makeSignInLink(platform, removed.email);
  await changeRole(platform, { merchantId: removed.merchantId, userId: removed.userId, role: null });
  await expectUnusable(signingIn.token, 'its person was removed');
  const admin = await newPerson('admin', merchantId);
  const { token } = await invite(admin.userId);
  // As if it had been made at the moment of the removal: the link itself is still there.
  await sql`update console_membership set role = 'viewer' where user_id = ${admin.userId}`.execute(
    platform.db,
  );
  await expectUnusable(token, 'whoever made it may give no roles');
  const member = await invite(owner, (await newPerson('viewer')).email);
  await sql`insert into console_membership select ${merchantId}, ${member.userId}, 'viewer', 0`.execute(
    platform.db,
  );
  await expectUnusable(member.token, 'a role is there already');
});

test('people of a suspended merchant are invited as before', { timeout: LONG_MS }, async () => {
  const { merchantId } = await newPerson();
  const { token } = await inviteUser(platform, { merchantId, email: newEmail(), role: 'viewer' });
  await setMerchantStatus(platform, merchantId, 'suspended');
  expect(await look(token)).toMatchObject({ needs: 'new_password', merchantName: 'M' });
  opened(await redeem(token, PASSWORD));
});
