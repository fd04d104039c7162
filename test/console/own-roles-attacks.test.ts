import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiRoutes } from '../../packages/server/src/app.ts';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import { permissionOf } from '../../packages/server/src/console/api-permissions.ts';
import { givableScopes, MERCHANT_PERMISSIONS } from '../../packages/server/src/console/roles.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { callAsPage, type Person, signIn } from './people.ts';

const LONG_MS = 120_000;
const PASSWORD = 'gravel-otter-lantern';

let service: TestService;
let live: TestMerchant;
let owner: Person;
beforeAll(async () => {
  service = await startService();
  live = await service.createMerchant({ mode: 'live' });
  owner = await signIn(service, live, 'owner');
}, LONG_MS);
afterAll(() => service.stop());

const own = (path: string) => `/console/api/merchants/${encodeId('merchant', live.merchantId)}${path}`;
const make = (name: string, ...permissions: string[]) =>
  owner.call(own('/roles'), { method: 'POST', body: { name, permissions } });
const edit = (name: string, ...permissions: string[]) =>
  owner.call(own(`/roles/${name}`), { method: 'PUT', body: { permissions } });
const link = async (path: string, body: object) =>
  (
    await callAsPage(
      service,
      `/console/api/links/${path}`,
      { origin: service.baseUrl },
      { method: 'POST', body },
    )
  ).status;

test('nobody makes a live key that does what their role does not, whatever roles a merchant makes', {
  timeout: LONG_MS,
}, async () => {
  const opened = new Set<string>();
  for (const one of MERCHANT_PERMISSIONS)
    for (const other of MERCHANT_PERMISSIONS) {
      const role: string[] = ['see', 'edit_keys', one, other];
      const scopes: readonly string[] = givableScopes(role);
      for (const route of apiRoutes(service.app)) {
        const needed = permissionOf(route)?.name;
        // Approving takes the token of an approver, which no key has; the simulated chains are of sandboxes.
        if (needed === undefined || needed === 'approve' || needed === 'use_sandbox') continue;
        if (scopes.includes(route.scope) && !role.includes(needed)) opened.add(route.operationId);
      }
    }
  // Of live mails only to whom and of which kind they are.
  expect([...opened].toSorted()).toEqual(['listMails', 'retrieveMail']);
  await make('desk', 'edit_keys', 'see_requests', 'refund');
  const desk = await signIn(service, live, 'desk');
  const key = (scope: string) =>
    desk.call(own(`/stores/${encodeId('store', live.storeId)}/api-keys`), {
      method: 'POST',
      body: { name: 'k', scopes: [scope], validity_days: 0 },
      headers: { 'idempotency-key': randomUUID() },
    });
  expect([(await key('read')).status, (await key('refunds')).status]).toEqual([200, 403]);
});

test('a session that ended idle stays ended when the role moves no money any more', {
  timeout: LONG_MS,
}, async () => {
  await make('mover', 'refund');
  const mover = await signIn(service, live, 'mover');
  const hour = 3_600_000;
  await sql`update console_session set seen_at_ms = seen_at_ms - ${hour} where user_id = ${mover.userId}`.execute(
    service.app.db,
  );
  const before = (await mover.call('/console/api/me')).status;
  await edit('mover');
  expect([before, (await mover.call('/console/api/me')).status]).toEqual([401, 401]);
});

test('invitations of whoever may invite no more are gone, and do not come back with the right', {
  timeout: LONG_MS,
}, async () => {
  await make('host', 'manage_users');
  const host = await signIn(service, live, 'host');
  const email = 'guest@example.com';
  const { body } = await host.call(own('/users'), { method: 'POST', body: { email, role: 'viewer' } });
  const { link_token: token } = body as { link_token?: string };
  expect(await link('look', { token })).toBe(200);
  await edit('host');
  expect((await owner.call(own('/users'))).text).not.toContain(email);
  await edit('host', 'manage_users');
  expect(await link('look', { token })).toBe(401);
});

test('a link whose role is no more is refused as every other dead link is', {
  timeout: LONG_MS,
}, async () => {
  await make('gone', 'see');
  const invitation = { merchantId: live.merchantId, email: 'gone@example.com', role: 'gone' };
  const { token } = await users.inviteUser(service.app, invitation);
  await sql`delete from console_role where name = 'gone'`.execute(service.app.db);
  expect([await link('look', { token }), await link('redeem', { token, password: PASSWORD })]).toEqual([
    401, 401,
  ]);
});

test('no role of a merchant has a name that is read as something else', { timeout: LONG_MS }, async () => {
  for (const name of ['operator', 'auditor', 'owner']) expect((await make(name)).status, name).toBe(409);
  expect((await make('__proto__')).status).toBe(400);
  expect((await make('constructor')).status).toBe(200);
});
