import { createHash, randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type App, createApiServer, migrateAll, openApp } from '../../packages/server/src/app.ts';
import { type AuditEntry, listEntries, verifyAudit } from '../../packages/server/src/audit/index.ts';
import { signIns, users } from '../../packages/server/src/console/accounts/index.ts';
import { createConsole } from '../../packages/server/src/console/index.ts';
import { BUILT_IN, permissionsOf } from '../../packages/server/src/console/roles.ts';
import { installationRoutes } from '../../packages/server/src/monitoring/index.ts';
import { userCommands } from '../../packages/server/src/operator/users.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { changeStore, createMerchant, createStore } from '../../packages/server/src/stores/index.ts';
import { createKey } from '../../packages/server/src/stores/keys/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { createDatabase } from '../database.ts';
import { signedHeaders } from '../signed-request.ts';
import { everyRole } from './every-role.ts';

const ORIGIN = 'https://pay.example.com';
const PASSWORD = 'gravel-otter-lantern';
const LONG_MS = 120_000;
let database: Awaited<ReturnType<typeof createDatabase>>;
let app: App;
let node: FastifyInstance;
let otherNode: FastifyInstance;
let merchantId = '';
let merchant = '';
const rate = { perSecond: 1_000, burst: 1_000 };

beforeAll(async () => {
  database = await createDatabase();
  await migrateAll(database.url, undefined);
  app = await openApp({
    databaseUrl: database.url,
    masterKey: randomBytes(32),
    log: createLogger('silent'),
    poolSize: 4,
  });
  [node, otherNode] = [0, 1].map(() =>
    createApiServer(app, { publicUrl: () => ORIGIN, rate, checkAnswers: true }),
  ) as [FastifyInstance, FastifyInstance];
  ({ merchantId } = await createMerchant(app, { name: 'M', mode: 'sandbox' }));
  merchant = encodeId('merchant', merchantId);
}, LONG_MS);
afterAll(async () => {
  await Promise.all([node.close(), otherNode.close()]);
  await app.close();
  await database.drop();
});

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
interface Browser {
  cookie?: string;
  csrf?: string;
}
interface Extra {
  body?: object | undefined;
  headers?: Record<string, string>;
  at?: FastifyInstance;
}

/** What a caller has of an answer; a stream goes on. */
async function bodyOf(answer: { headers: object; stream(): Readable }): Promise<string> {
  if ('x-accel-buffering' in answer.headers) {
    answer.stream().destroy();
    return '{}';
  }
  return await text(answer.stream());
}

async function call(
  browser: Browser,
  method: Method,
  path: string,
  { body, headers, at = node }: Extra = {},
) {
  const answer = await at.inject({
    method,
    url: path,
    headers: {
      ...(method === 'GET' ? {} : { origin: ORIGIN }),
      ...(browser.cookie === undefined ? {} : { cookie: browser.cookie }),
      ...(browser.csrf === undefined ? {} : { 'x-csrf-token': browser.csrf }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    payloadAsStream: true,
  });
  const set = [answer.headers['set-cookie']].flat()[0]?.split(';', 1)[0];
  if (set !== undefined) browser.cookie = set;
  return { status: answer.statusCode, body: JSON.parse(await bodyOf(answer)), set };
}

/** Signs a person in as a browser does. */
async function browserOf(token: string, password?: string): Promise<Browser> {
  const browser: Browser = {};
  const { status } = await call(browser, 'POST', '/console/api/links/redeem', { body: { token, password } });
  expect(status).toBe(200);
  browser.csrf = (await call(browser, 'GET', '/console/api/me')).body.csrf_token;
  return browser;
}

let people = 0;
async function person(role: string, of = merchantId) {
  people += 1;
  const email = `p${people}@example.com`;
  const { token, userId } = await users.inviteUser(app, { merchantId: of, email, role });
  return { email, userId, browser: await browserOf(token, PASSWORD) };
}

/** As if the second factor had been given. */
async function complete({ userId }: { userId: string }): Promise<void> {
  await sql`update console_session set has_second_factor = true where user_id = ${userId}`.execute(app.db);
}

const consoleOf = () =>
  createConsole(app, {
    publicUrl: () => ORIGIN,
    version: '2026-04-20',
    installationRoutes: installationRoutes(app),
    liveEvents: app.liveEvents,
  });
const filled = (path: string) =>
  path
    .replace('{merchant_id}', merchant)
    .replace('{passkey_id}', 'cGFzc2tleQ')
    .replace('{store_id}', encodeId('store', merchantId))
    .replace('{payment_id}', encodeId('payment', merchantId))
    .replace('{key_id}', encodeId('key', merchantId))
    .replace('{job_id}', merchantId)
    .replace('{network}', 'erc20')
    .replace('{role}', 'nobody')
    .replace('{request_id}', 'req_unknown')
    .replace('{user_id}', encodeId('user', merchantId))
    .replace('{session_id}', encodeId('session', merchantId));

test('F6: each route answers each role as the two tables say', { timeout: LONG_MS }, async () => {
  const { routes } = consoleOf();
  const tried: string[] = [];
  for (const own of await everyRole(app, merchantId)) {
    const role = own.name;
    const who = await person(role, own.role === null ? NIL_ID : merchantId);
    const permissions: readonly string[] = permissionsOf(own);
    for (const { method, path, permission, operationId } of routes) {
      // Ends what the others need.
      if (permission === undefined || operationId === 'signOut') continue;
      // A route before may have taken the factor away.
      await complete(who);
      const { status, body } = await call(who.browser, method, filled(path));
      const may = permission.name === 'own' || permissions.includes(permission.name);
      const isRefused = status === 403 && JSON.stringify(body).includes('Your role does not permit');
      expect(isRefused, `${role} ${operationId}: ${status} ${JSON.stringify(body)}`).toBe(!may);
      expect(status, `${role} ${operationId}`).not.toBe(401);
      tried.push(`${role} ${operationId}`);
    }
  }
  expect(tried.length).toBeGreaterThan(BUILT_IN.size * 10);
});

test('without a second factor a role that needs one may nothing but its own, and nobody reaches another merchant', {
  timeout: LONG_MS,
}, async () => {
  const owner = await person('owner');
  const list = `/console/api/merchants/${merchant}/users`;
  expect((await call(owner.browser, 'GET', list)).status).toBe(403);
  await complete(owner);
  expect((await call(owner.browser, 'GET', list)).status).toBe(200);
  const foreign = await createMerchant(app, { name: 'Foreign', mode: 'sandbox' });
  for (const id of [encodeId('merchant', foreign.merchantId), 'mer_nothing', encodeId('user', merchantId)])
    expect((await call(owner.browser, 'GET', `/console/api/merchants/${id}/users`)).status, id).toBe(403);
});

test('an API key never reaches the console, nor a session the API', { timeout: LONG_MS }, async () => {
  const storeId = await createStore(app, { merchantId, name: 'Store', channelType: 'api' });
  await changeStore(app, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
  const scopes = ['read', 'write', 'payouts', 'refunds'];
  const key = await createKey(app, { merchantId, storeId, name: 'Key', validityDays: 0, scopes });
  const credentials = { apiKey: key.apiKey, secretKey: key.secretKey };
  for (const { method, path } of consoleOf().routes) {
    const body = method === 'POST' || method === 'PUT' ? '{}' : '';
    const headers = {
      ...signedHeaders(credentials, { body }),
      origin: ORIGIN,
      'content-type': 'application/json',
    };
    const answer = await node.inject({
      method,
      url: filled(path),
      headers,
      ...(body === '' ? {} : { payload: body }),
    });
    expect(answer.statusCode, path).toBe(401);
  }
  const owner = await person('owner');
  await complete(owner);
  expect((await call(owner.browser, 'GET', '/api/v1/balances')).status).toBe(401);
  const signed = await node.inject({
    method: 'GET',
    url: '/api/v1/balances',
    headers: signedHeaders(credentials),
  });
  expect(signed.statusCode).toBe(200);
});

test('F2: a change takes the same origin and the token beside the cookie', { timeout: LONG_MS }, async () => {
  const { browser } = await person('viewer');
  const { cookie = '' } = browser;
  const statuses = async (method: Method, path: string) => [
    (await call({ cookie }, method, path)).status,
    (await call({ cookie, csrf: 'x'.repeat(43) }, method, path)).status,
    (await call(browser, method, path, { headers: { origin: 'https://evil.example' } })).status,
    (await call(browser, method, path, { headers: { 'sec-fetch-site': 'cross-site' } })).status,
    (await call({ csrf: browser.csrf ?? '' }, method, path)).status,
  ];
  for (const { method, path, permission } of consoleOf().routes)
    if (method !== 'GET' && permission !== undefined)
      expect(await statuses(method, filled(path)), path).toEqual([403, 403, 403, 403, 401]);
  const signInElsewhere = await call({}, 'POST', '/console/api/sign-in', {
    body: { email: 'a@b.example', password: PASSWORD },
    headers: { origin: 'https://evil.example' },
  });
  expect(signInElsewhere.status).toBe(403);
  expect((await call(browser, 'GET', '/console/api/me')).status).toBe(200);
});

test('F1: a planted cookie is no session after the sign-in, and one that ended is dead on the other node', {
  timeout: LONG_MS,
}, async () => {
  const { email, browser } = await person('viewer');
  const planted = `__Host-florin_session=${'p'.repeat(43)}`;
  const victim: Browser = { cookie: planted };
  await call(victim, 'POST', '/console/api/sign-in', { body: { email, password: PASSWORD } });
  expect(victim.cookie).not.toBe(planted);
  expect((await call({ cookie: planted }, 'GET', '/console/api/me')).status).toBe(401);
  expect((await call(browser, 'GET', '/console/api/me', { at: otherNode })).status).toBe(200);
  const stolen = { ...browser };
  expect((await call(browser, 'POST', '/console/api/sign-out')).status).toBe(200);
  for (const at of [node, otherNode])
    expect((await call({ ...stolen }, 'GET', '/console/api/me', { at })).status).toBe(401);
});

test('fault 82: an authenticator is set up, its code asked for, and the cookie of before is worth nothing', {
  timeout: LONG_MS,
}, async () => {
  const { email, browser } = await person('finance');
  const before = { ...browser };
  const { body: begun } = await call(browser, 'POST', '/console/api/factors/totp');
  const totp = new TOTP({ secret: begun.secret });
  const code = totp.generate({ timestamp: app.clock.nowMs() });
  const confirmed = await call(browser, 'POST', '/console/api/factors/totp/confirm', { body: { code } });
  expect(confirmed.body.recovery_codes).toHaveLength(10);
  expect((await call(before, 'GET', '/console/api/me')).status).toBe(401);
  expect((await call(browser, 'GET', '/console/api/me')).body).toMatchObject({ second_factor: true });
  const again: Browser = {};
  const signIn = (extra: object) =>
    call(again, 'POST', '/console/api/sign-in', { body: { email, password: PASSWORD, ...extra } });
  expect((await signIn({})).body).toEqual({ status: 'code_required' });
  expect([(await signIn({ code })).status, again.cookie]).toEqual([401, undefined]);
  expect((await signIn({ code: confirmed.body.recovery_codes[0] })).body).toEqual({ status: 'signed_in' });
});

/** What somebody who has a file of the log finds out with SHA-256 alone: each entry says all that its hash covers. */
function expectChained(newestFirst: AuditEntry[]): void {
  let previous = '0'.repeat(64);
  for (const [index, entry] of newestFirst.toReversed().entries()) {
    const covered = [
      'florin-audit-v1',
      merchantId,
      String(entry.number),
      String(Date.parse(entry.at)),
      entry.actor_kind,
      entry.actor,
      entry.origin,
      entry.action,
      entry.phase,
      entry.attempt === null ? null : String(entry.attempt),
      entry.request_id,
      JSON.stringify(entry.details),
      entry.previous_hash,
    ];
    const hash = createHash('sha256').update(JSON.stringify(covered)).digest('hex');
    expect([entry.number, entry.previous_hash, entry.hash]).toEqual([index + 1, previous, hash]);
    previous = hash;
  }
}

test('changes of users ask for a proof of the last 5 minutes, are audited with before and after, and hold no secret', {
  timeout: LONG_MS,
}, async () => {
  const owner = await person('owner');
  await complete(owner);
  const list = `/console/api/merchants/${merchant}/users`;
  await sql`update console_session set proved_at_ms = proved_at_ms - 300000 where user_id = ${owner.userId}`.execute(
    app.db,
  );
  const email = 'newcomer@example.com';
  const invite = () => call(owner.browser, 'POST', list, { body: { email, role: 'viewer' } });
  expect((await invite()).body.error).toMatchObject({ param: 'proof' });
  const proof = { password: PASSWORD };
  expect((await call(owner.browser, 'POST', '/console/api/proof', { body: proof })).status).toBe(200);
  const invited = await invite();
  expect(invited.status).toBe(200);
  await browserOf(invited.body.link_token, PASSWORD);
  const member = `${list}/${invited.body.user_id}`;
  expect((await call(owner.browser, 'PUT', member, { body: { role: 'finance' } })).status).toBe(200);
  const entries = await listEntries(app.db, merchantId, { limit: 50 });
  const [done, attempted] = entries.filter(({ action }) => action === 'changeRole');
  const actor = encodeId('user', owner.userId);
  expect(attempted).toMatchObject({ actor, actor_kind: 'user', details: { before: { role: 'viewer' } } });
  expect(done).toMatchObject({ phase: 'done', details: { after: { role: 'finance' } } });
  for (const secret of [invited.body.link_token, PASSWORD])
    expect(JSON.stringify(entries).includes(secret)).toBe(false);
  // Somebody else has opened the form before.
  const late = await call(owner.browser, 'PUT', member, { body: { role: 'support', seen: 'viewer' } });
  expect([late.status, late.body.error.message]).toEqual([409, expect.stringContaining('it is finance now')]);
  const again = await call(owner.browser, 'PUT', member, { body: { role: 'finance', seen: 'viewer' } });
  expect(again.status).toBe(200);
  const log = await call(owner.browser, 'GET', `/console/api/merchants/${merchant}/audit-log?limit=5`);
  expect(log.body.data).toHaveLength(5);
  expect(log.body.people).toEqual({ [actor]: owner.email });
  const found = async (query: string) => {
    const filtered = `/console/api/merchants/${merchant}/audit-log?limit=500&${query}`;
    const { status, body } = await call(owner.browser, 'GET', filtered);
    return { status, actions: (body.data ?? []).map(({ action }: { action: string }) => action) };
  };
  expect(new Set((await found('action=changeRole')).actions)).toEqual(new Set(['changeRole']));
  const byOwner = await found(`actor=${owner.email.toUpperCase()}`);
  expect(byOwner.actions).toEqual((await found(`actor=${actor}`)).actions);
  expect(byOwner.actions).toContain('inviteUser');
  expect((await found('actor=nobody@example.com')).actions).toEqual([]);
  const later = app.clock.nowSeconds() + 60;
  expect((await found(`created[gte]=${later}`)).actions).toEqual([]);
  expect((await found(`created[lt]=${later}`)).actions).toContain('changeRole');
  expect((await found('created[gte]=2&created[lt]=1')).status).toBe(400);
  expectChained(
    (await call(owner.browser, 'GET', `${list.replace('users', 'audit-log')}?limit=500`)).body.data,
  );
  expect((await verifyAudit(app)).flatMap(({ faults }) => faults)).toEqual([]);
  const admin = await person('admin');
  await complete(admin);
  const promote = await call(admin.browser, 'PUT', member, { body: { role: 'owner' } });
  expect([promote.status, JSON.stringify(promote.body)]).toEqual([
    403,
    expect.stringContaining('Only an owner'),
  ]);
});

test('the document of the console names every route, with its session and its token', async () => {
  const { statusCode, body } = await node.inject({ method: 'GET', url: '/console/api/openapi.json' });
  const document = JSON.parse(body);
  expect(statusCode).toBe(200);
  const named = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = consoleOf().routes.map(({ method, path }) => `${method} ${path}`);
  expect(named.toSorted()).toEqual(served.toSorted());
  expect(document.security).toEqual([{ session: [] }]);
  const { parameters } = document.paths['/console/api/sign-out'].post;
  expect(parameters.map(({ name }: { name: string }) => name)).toEqual(['X-CSRF-Token']);
});

test('a password is never guessed from many browsers at once', { timeout: LONG_MS }, async () => {
  const { email } = await person('viewer');
  const body = { email, password: 'not the password' };
  const answers = await Promise.all(
    Array.from({ length: 14 }, (_, i) =>
      call({}, 'POST', '/console/api/sign-in', { body, at: i % 2 === 0 ? node : otherNode }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  const device = { remoteAddress: '10.9.9.9', userAgent: '' };
  await expect(signIns.signIn(app, { email, password: PASSWORD }, device)).rejects.toThrow('too many tries');
});

test('links of the command line begin with the address that browsers use, or none is made', async () => {
  const commands = userCommands(app, undefined);
  const invitation = { merchant, email: 'nowhere@example.com', role: 'viewer' };
  await expect(commands.invite(invitation)).rejects.toThrow('FLORIN_PUBLIC_URL');
  await expect(commands.signInLink('nowhere@example.com')).rejects.toThrow('FLORIN_PUBLIC_URL');
  const emails = (await commands.list({ merchant })).map(({ email }) => email);
  expect(emails).not.toContain('nowhere@example.com');
  const { link_token: link } = await userCommands(app, ORIGIN).invite(invitation);
  expect(link).toMatch(/^https:\/\/pay\.example\.com\/console\/link#[\w-]{43}$/);
});
