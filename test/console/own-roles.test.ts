import { afterAll, beforeAll, expect, test } from 'vitest';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import * as ownRoles from '../../packages/server/src/console/accounts/own-roles/index.ts';
import { listApprovers } from '../../packages/server/src/stores/approvers/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { configure } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { forgetProof, type Person, signIn } from './people.ts';
import { submitBatch } from './waiting-batch.ts';

const LONG_MS = 120_000;

let service: TestService;
let merchant: TestMerchant;
let owner: Person;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
  await configure(service, merchant, { approvalAbove: '1.00' });
  owner = await signIn(service, merchant, 'owner');
}, LONG_MS);
afterAll(() => service.stop());

const own = (path: string) => `/console/api/merchants/${encodeId('merchant', merchant.merchantId)}${path}`;
const at = (role = '') => own(role === '' ? '/roles' : `/roles/${role}`);

/** @returns the status, and what an error says */
async function ask(by: Person, method: string, path: string, body?: object) {
  const answer = await by.call(path, { method, body });
  const { error } = answer.body as { error?: { code: string; message: string; param?: string } };
  return [answer.status, error?.param ?? error?.message];
}
const requests = () => own(`/stores/${encodeId('store', merchant.storeId)}/requests`);
const make = (by: Person, name: string, ...permissions: string[]) =>
  ask(by, 'POST', at(), { name, permissions });

test('a role of the merchant’s own lets its people do what it says, and says so where it does not', {
  timeout: LONG_MS,
}, async () => {
  expect(await make(owner, 'reader', 'see_requests')).toEqual([200, undefined]);
  const reader = await signIn(service, merchant, 'reader');
  const { body: me } = await reader.call('/console/api/me');
  expect(me).toMatchObject({
    merchants: [
      {
        role: 'reader',
        permissions: ['see', 'see_requests'],
        needs_second_factor: false,
        own_roles: [{ name: 'reader', permissions: ['see', 'see_requests'] }],
      },
    ],
  });
  expect((await reader.call(requests())).status).toBe(200);
  expect(await ask(reader, 'GET', at())).toEqual([403, expect.stringContaining('manage_users')]);
  expect(await ask(owner, 'PUT', at('reader'), { permissions: ['read_audit_log'] })).toEqual([
    200,
    undefined,
  ]);
  expect((await reader.call(requests())).status).toBe(403);
  expect((await reader.call(own('/audit-log'))).status).toBe(200);
  const { body } = await owner.call(at());
  const { data = [] }: { data?: object[] } = body;
  expect(data).toHaveLength(8);
  expect(data.at(-1)).toEqual({
    name: 'reader',
    permissions: ['see', 'read_audit_log'],
    is_built_in: false,
    members: 1,
    is_assignable: true,
  });
});

test('a role that makes keys or moves money needs a second factor', { timeout: LONG_MS }, async () => {
  await make(owner, 'keeper', 'edit_keys');
  const keeper = await signIn(service, merchant, 'keeper');
  const { body } = await keeper.call('/console/api/me');
  expect(body).toMatchObject({ merchants: [{ needs_second_factor: true }] });
});

test('names and permissions that cannot be are refused beside their field', {
  timeout: LONG_MS,
}, async () => {
  for (const name of ['Reader', 'x', '1st', 'a b', 'a'.repeat(33), 'über', '', '<script>'])
    expect(await make(owner, name, 'see'), name).toEqual([400, 'name']);
  for (const permission of ['operate', 'see_installation', 'own', 'everything', ''])
    expect((await make(owner, 'wrong', permission))[0], permission).toBe(400);
  for (const name of ['owner', 'viewer', 'reader'])
    expect(await make(owner, name, 'see'), name).toEqual([409, 'name']);
  for (const [method, body] of [
    ['PUT', { permissions: [] }],
    ['DELETE', undefined],
  ] as const)
    for (const role of ['viewer', 'nothing'])
      expect((await ask(owner, method, at(role), body))[0], `${method} ${role}`).toBe(404);
});

test('of two people who change one role the second is told; the same form again is no change', {
  timeout: LONG_MS,
}, async () => {
  await make(owner, 'shared', 'see_requests');
  const seen = ['see', 'see_requests'];
  const edit = (...permissions: string[]) => ask(owner, 'PUT', at('shared'), { permissions, seen });
  expect(await edit('refund')).toEqual([200, undefined]);
  expect(await edit('edit_keys')).toEqual([409, expect.stringContaining('permits see, refund now')]);
  expect(await edit('refund')).toEqual([200, undefined]);
});

test('nobody makes, gives or changes a role that may do what theirs may not, or changes their own', {
  timeout: LONG_MS,
}, async () => {
  const admin = await signIn(service, merchant, 'admin');
  expect(await make(admin, 'checker', 'approve')).toEqual([403, expect.stringContaining('owner')]);
  await make(owner, 'checker', 'approve');
  expect((await ask(admin, 'PUT', at('checker'), { permissions: [] }))[0]).toBe(403);
  expect((await ask(admin, 'DELETE', at('checker')))[0]).toBe(403);
  let invited = 0;
  const invite = (by: Person, role: string) => {
    invited += 1;
    return ask(by, 'POST', own('/users'), { email: `invited-${invited}@example.com`, role });
  };
  expect((await invite(admin, 'checker'))[0]).toBe(403);
  expect((await invite(admin, 'reader'))[0]).toBe(200);
  await make(owner, 'people', 'manage_users');
  const people = await signIn(service, merchant, 'people');
  expect((await ask(people, 'PUT', at('people'), { permissions: ['refund'] }))[0]).toBe(403);
  for (const role of ['owner', 'admin', 'finance', 'developer', 'approver', 'checker'])
    expect((await invite(people, role))[0], role).toBe(403);
  expect((await invite(people, 'viewer'))[0]).toBe(200);
  expect(await invite(owner, 'nothing')).toEqual([400, 'role']);
  await forgetProof(service.app, owner);
  expect(await make(owner, 'late', 'see')).toEqual([403, 'proof']);
  await owner.call('/console/api/proof', { method: 'POST', body: { password: 'gravel-otter-lantern' } });
});

test('an admin’s invitation gives nothing that the role got since and the admin may not give', {
  timeout: LONG_MS,
}, async () => {
  const admin = await signIn(service, merchant, 'admin');
  await make(owner, 'grown', 'refund');
  const { body } = await admin.call(own('/users'), {
    method: 'POST',
    body: { email: 'grown@example.com', role: 'grown' },
  });
  expect(await ask(owner, 'PUT', at('grown'), { permissions: ['refund', 'approve'] })).toEqual([
    200,
    undefined,
  ]);
  const { link_token: token } = body as { link_token?: string };
  const redeemed = await fetch(`${service.baseUrl}/console/api/links/redeem`, {
    method: 'POST',
    headers: { origin: service.baseUrl, 'content-type': 'application/json' },
    body: JSON.stringify({ token, password: 'gravel-otter-lantern' }),
  });
  expect(redeemed.status).toBe(401);
});

test('who approves by a role of the merchant’s own counts while it says so, and never for what they drew up', {
  timeout: LONG_MS,
}, async () => {
  const address = (await merchant.sdk.testHelpers.addresses()).erc20.succeed;
  await make(owner, 'treasurer', 'create_payouts', 'approve');
  const [one, other] = [
    await signIn(service, merchant, 'treasurer'),
    await signIn(service, merchant, 'treasurer'),
  ];
  const decide = async (by: Person, batch: string) =>
    (await ask(by, 'POST', own(`/payout-batches/${batch}/decision`), { decision: 'approved' }))[0];
  const batch = await submitBatch(one, address);
  expect([await decide(one, batch), await decide(other, batch)]).toEqual([403, 200]);
  const isApprover = async () =>
    (await listApprovers(service.app, merchant.merchantId)).some(({ name }) => name === other.email);
  expect(await isApprover()).toBe(true);
  const permit = (...permissions: string[]) => ask(owner, 'PUT', at('treasurer'), { permissions });
  await permit('create_payouts');
  const next = await submitBatch(one, address);
  expect([await isApprover(), await decide(other, next)]).toEqual([false, 403]);
  await permit('create_payouts', 'approve');
  expect([await isApprover(), await decide(other, next)]).toEqual([true, 200]);
});

test('a role that somebody has, or is invited to, stays; one of nobody goes, from every list', {
  timeout: LONG_MS,
}, async () => {
  await make(owner, 'short', 'see');
  const { userId } = await users.inviteUser(service.app, {
    merchantId: merchant.merchantId,
    email: 'short@example.com',
    role: 'short',
  });
  expect(await ask(owner, 'DELETE', at('short'))).toEqual([409, expect.stringContaining('Somebody has')]);
  await users.changeRole(service.app, { merchantId: merchant.merchantId, userId, role: null });
  const person = await signIn(service, merchant, 'short');
  expect((await ask(owner, 'DELETE', at('short')))[0]).toBe(409);
  const { merchantId } = merchant;
  await users.changeRole(service.app, { merchantId, userId: person.userId, role: 'viewer' });
  // Of somebody who is invited while it is deleted either finds the other.
  const race = await Promise.allSettled([
    users.inviteUser(service.app, { merchantId, email: 'late@example.com', role: 'short' }),
    ownRoles.deleteRole(service.app, { merchantId, name: 'short' }),
  ]);
  expect(race.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const listed = await ownRoles.listRoles(service.app, merchantId);
  expect(listed.some(({ name }) => name === 'short')).toBe(race[0].status === 'fulfilled');
});

test('no merchant sees or uses the roles of another one; what is changed is in the audit log', {
  timeout: LONG_MS,
}, async () => {
  await make(owner, 'ours', 'see');
  const other = await service.createMerchant();
  const listed = await ownRoles.listRoles(service.app, other.merchantId);
  expect(listed.every(({ isBuiltIn }) => isBuiltIn)).toBe(true);
  await expect(
    users.inviteUser(service.app, { merchantId: other.merchantId, email: 'x@example.com', role: 'ours' }),
  ).rejects.toThrow('The role is one of owner,');
  await ask(owner, 'PUT', at('ours'), { permissions: ['refund'] });
  const { body } = await owner.call(own('/audit-log?limit=10'));
  const { data = [] }: { data?: { action: string }[] } = body;
  const entries = data.filter(({ action }) => action === 'editRole').slice(0, 2);
  expect(entries).toMatchObject([
    { phase: 'done', details: { after: { name: 'ours', permissions: ['see', 'refund'] } } },
    { phase: 'attempted', details: { before: { name: 'ours', permissions: ['see'] } } },
  ]);
});
