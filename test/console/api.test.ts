import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiRoutes } from '../../packages/server/src/app.ts';
import { listEntries, verifyAudit } from '../../packages/server/src/audit/index.ts';
import { namedCalls, permissionOf } from '../../packages/server/src/console/api-permissions.ts';
import { permissionsOf } from '../../packages/server/src/console/roles.ts';
import { payoutCommands } from '../../packages/server/src/operator/payouts.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { Fail } from '../../packages/server/src/platform/fail.ts';
import type { Route } from '../../packages/server/src/platform/http/index.ts';
import * as storeApprovers from '../../packages/server/src/stores/approvers/index.ts';
import { changeStore, setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { configure } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { everyRole } from './every-role.ts';
import { callAsPage, forgetProof, type Person, pageHeaders, signIn } from './people.ts';

const LONG_MS = 120_000;
const BATCHES = '/api/v1/payout-batches';
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
}, LONG_MS);
afterAll(() => service.stop());

const routes = () => apiRoutes(service.app);
const filled = (path: string) => path.replaceAll(/\{\w+\}/g, 'unknown');
const bodyOf = (method: string) => (method === 'GET' || method === 'DELETE' ? {} : { body: {} });

test('every call of the API is in the table of permissions, and the table names no other', () => {
  expect(namedCalls().toSorted()).toEqual(
    routes()
      .map(({ operationId }) => operationId)
      .toSorted(),
  );
});

test('F6: each call of the API answers each role as the two tables say', { timeout: LONG_MS }, async () => {
  let tried = 0;
  const every = await everyRole(service.app, merchant.merchantId);
  for (const own of every) {
    const role = own.name;
    const merchantId = own.role === null ? NIL_ID : merchant.merchantId;
    const person = await signIn(service, merchant, role, merchantId);
    const permissions: readonly string[] = permissionsOf(own);
    for (const { method, path, operationId } of routes()) {
      const permission = permissionOf({ operationId });
      const { status, text } = await person.call(filled(path), { method, ...bodyOf(method) });
      const may = permission !== undefined && permissions.includes(permission.name);
      const isRefused = status === 403 && /Your role does not permit|takes an API key/.test(text);
      expect(isRefused, `${role} ${operationId}: ${status} ${text}`).toBe(!may);
      expect([401, 500], `${role} ${operationId}`).not.toContain(status);
      tried += 1;
    }
  }
  expect(tried).toBe(every.length * routes().length);
});

test('F2: no call of the API takes a session without its token, from elsewhere, or without its cookie', {
  timeout: LONG_MS,
}, async () => {
  const owner = await signIn(service, merchant, 'owner');
  const own = (method: string) => pageHeaders(service, owner, merchant, method);
  const statuses = async ({ method, path }: Route, wrong: Record<string, string | undefined>[]) =>
    await Promise.all(
      wrong.map(async (headers) => {
        const options = { method, ...bodyOf(method) };
        return (await callAsPage(service, filled(path), { ...own(method), ...headers }, options)).status;
      }),
    );
  const planted = [
    { 'x-csrf-token': undefined },
    { 'x-csrf-token': 'x'.repeat(43) },
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
  ];
  for (const route of routes())
    expect(await statuses(route, planted), route.path).toEqual([403, 403, 403, 403]);
  const strange = [
    { cookie: undefined },
    { cookie: `florin_session=${'x'.repeat(43)}` },
    { 'x-service-merchant': undefined },
  ];
  // A few: who is not known waits longer with each try.
  for (const route of routes().slice(0, 4)) expect(await statuses(route, strange)).toEqual([401, 401, 401]);
  const { status } = await callAsPage(service, '/api/v1/balances', own('GET'));
  expect(status).toBe(200);
  const noOrigin = { ...own('POST'), origin: undefined };
  expect((await callAsPage(service, BATCHES, noOrigin, { method: 'POST', body: {} })).status).toBe(403);
});

const items = (address: string, amount = '20.00') => ({
  currency: 'USDT',
  items: [{ network: 'erc20', address, amount }],
});

async function draft(person: Person): Promise<string> {
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const created = await person.call(BATCHES, {
    method: 'POST',
    body: items(erc20.succeed),
    headers: { 'idempotency-key': randomUUID() },
  });
  expect([created.status, created.text]).toEqual([200, expect.any(String)]);
  return String(created.body.batch_id);
}

test('two merchants never see each other, nor does a page of one use the store of the other', {
  timeout: LONG_MS,
}, async () => {
  const other = await service.createMerchant();
  const ann = await signIn(service, merchant, 'owner');
  const bob = await signIn(service, other, 'owner');
  const batch = await draft(ann);
  expect((await ann.call(`${BATCHES}/${batch}`)).status).toBe(200);
  expect((await bob.call(`${BATCHES}/${batch}`)).status).toBe(404);
  const [merchantOfAnn, storeOfAnn] = [
    encodeId('merchant', merchant.merchantId),
    encodeId('store', merchant.storeId),
  ];
  const foreign: Record<string, string>[] = [
    { 'x-service-merchant': merchantOfAnn },
    { 'x-service-merchant': merchantOfAnn, 'x-service-store': storeOfAnn },
    { 'x-service-store': storeOfAnn },
    { 'x-service-store': '' },
    { 'x-service-merchant': 'mer_nothing' },
    { 'x-service-merchant': encodeId('merchant', '00000000-0000-0000-0000-000000000000') },
  ];
  for (const headers of foreign)
    for (const path of [BATCHES, `${BATCHES}/${batch}`, '/api/v1/balances']) {
      const { status, text } = await bob.call(path, { headers });
      expect([status, text.includes(batch)], JSON.stringify(headers)).toEqual([403, false]);
    }
  const list = await bob.call(BATCHES);
  expect([list.status, list.text.includes(batch)]).toEqual([200, false]);
});

test('a key with the headers of a page stays a key: its own merchant, its scopes, its signature', async () => {
  const other = await service.createMerchant();
  const headers = { 'x-service-merchant': encodeId('merchant', other.merchantId) };
  const answer = await send(`${service.baseUrl}/api/v1/balances`, merchant, { headers });
  expect(answer.status).toBe(200);
  const owner = await signIn(service, merchant, 'owner');
  const { authorization } = { authorization: 'Bearer nothing' };
  const both = { ...pageHeaders(service, owner, merchant), authorization };
  expect((await callAsPage(service, '/api/v1/balances', both)).status).toBe(401);
});

test('a batch of a person: proof, audit with before and after, and one answer for a repeated request', {
  timeout: LONG_MS,
}, async () => {
  const finance = await signIn(service, merchant, 'finance');
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const create = { method: 'POST', body: items(erc20.succeed), headers: { 'idempotency-key': randomUUID() } };
  const [first, again] = [await finance.call(BATCHES, create), await finance.call(BATCHES, create)];
  expect(again.body).toEqual(first.body);
  const batch = String(first.body.batch_id);
  await forgetProof(service.app, finance);
  const submit = () => finance.call(`${BATCHES}/${batch}/submit`, { method: 'POST', body: {} });
  const refused = await callAsPage(
    service,
    `${BATCHES}/${batch}/submit`,
    pageHeaders(service, finance, merchant, 'POST'),
    { method: 'POST', body: {} },
  );
  expect([refused.status, refused.headers.get('x-service-proof')]).toEqual([403, 'required']);
  const proof = await finance.call('/console/api/proof', {
    method: 'POST',
    body: { password: 'gravel-otter-lantern' },
  });
  expect(proof.status).toBe(200);
  expect((await submit()).body).toMatchObject({ status: 'pending' });
  const actor = encodeId('user', finance.userId);
  const entries = (await listEntries(service.app.db, merchant.merchantId, { limit: 50 })).filter(
    (entry) => entry.actor === actor,
  );
  expect(entries.map(({ action, phase }) => `${action} ${phase}`)).toEqual([
    'submitPayoutBatch done',
    'submitPayoutBatch attempted',
    'createPayoutBatch done',
    'createPayoutBatch attempted',
    'createPayoutBatch done',
    'createPayoutBatch attempted',
    'users.acceptInvitation done',
  ]);
  expect(entries[0]?.details).toMatchObject({ after: { status: expect.not.stringContaining('draft') } });
  expect(entries[1]?.details).toMatchObject({ before: { status: 'draft' } });
  expect(entries[2]?.details).toMatchObject({ result: { batch_id: batch } });
  expect((await verifyAudit(service.app)).flatMap(({ faults }) => faults)).toEqual([]);
});

async function approve(batch: string, as: string, token: string): Promise<string> {
  try {
    return (await payoutCommands(service.app).approve({ batch, as, token })).status;
  } catch (error) {
    if (error instanceof Fail) return error.code;
    throw error;
  }
}

test('F6: whoever drew a batch up, by session or by key, approves it under no name', {
  timeout: LONG_MS,
}, async () => {
  const own = await service.createMerchant();
  await configure(service, own, { approvalAbove: '1.00' });
  const { merchantId, storeId } = own;
  const [finance, owner] = [await signIn(service, own, 'finance'), await signIn(service, own, 'owner')];
  const { erc20 } = await own.sdk.testHelpers.addresses();
  const tokens = new Map<string, string>();
  for (const name of ['Finance', 'Owner', 'Third', 'Stranger'])
    tokens.set(name, await storeApprovers.addApprover(service.app, merchantId, name));
  const decide = (batch: string, name: string) => approve(batch, name, tokens.get(name) ?? '');
  const link = (name: string, userId: string) =>
    storeApprovers.linkApprover(service.app, merchantId, { name, userId });
  await link('Finance', finance.userId);
  await link('Owner', owner.userId);
  await link('Third', (await signIn(service, own, 'approver')).userId);
  await expect(link('Stranger', finance.userId)).rejects.toThrow('another approver');
  const input = { merchantId, storeId, name: 'Key', validityDays: 0, scopes: ['read', 'payouts'] };
  const key = await storeKeys.createKey(service.app, { ...input, ownerName: 'Owner' });
  // Drawn up by a key of the owner, changed by the finance person, submitted by the key.
  const created = await send(`${service.baseUrl}${BATCHES}`, key, {
    body: JSON.stringify(items(erc20.succeed)),
    headers: { 'idempotency-key': randomUUID() },
  });
  const batch = String(created.json.batch_id);
  const list = await finance.call(`${BATCHES}/${batch}/items`);
  const [item] = list.body.data as unknown as { item_id: string }[];
  const edit = await finance.call(`${BATCHES}/${batch}/items/${item?.item_id}`, {
    method: 'PUT',
    body: { network: 'erc20', address: erc20.succeed, amount: '30.00' },
  });
  expect([edit.status, edit.text]).toEqual([200, expect.any(String)]);
  const submitted = await send(`${service.baseUrl}${BATCHES}/${batch}/submit`, key, {
    method: 'POST',
    body: '{}',
  });
  expect(submitted.json.status).toBe('pending_approval');
  for (const name of ['Finance', 'Owner', 'Stranger'])
    expect(await decide(batch, name), name).toBe('forbidden');
  expect(await decide(batch, 'Third')).toBe('pending');
});

test('who may only look does not see where the money of a refund can be claimed', {
  timeout: LONG_MS,
}, async () => {
  const session = await merchant.sdk.checkout.sessions.create({ amount: 1_000n, currency: 'USDT' });
  await merchant.sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
  const refundId = `re_${randomUUID().replaceAll('-', '').slice(0, 26)}`;
  const support = await signIn(service, merchant, 'support');
  const made = await support.call('/api/v1/refunds/create', {
    method: 'POST',
    body: { refund_id: refundId, payment_id: session.payment_id },
  });
  expect([made.status, made.text]).toEqual([200, expect.stringContaining('"claim_url":"http')]);
  for (const [role, sees] of [
    ['support', true],
    ['finance', true],
    ['viewer', false],
    ['developer', false],
  ] as const) {
    const person = await signIn(service, merchant, role);
    for (const path of [`/api/v1/refunds/${refundId}`, '/api/v1/refunds']) {
      const { status, text } = await person.call(path);
      expect([status, text.includes('"claim_url":"http')], `${role} ${path}`).toEqual([200, sees]);
    }
  }
});

test('a key that may only read does not see where a refund can be claimed', {
  timeout: LONG_MS,
}, async () => {
  const own = await service.createMerchant();
  const { merchantId, storeId } = own;
  const session = await own.sdk.checkout.sessions.create({ amount: 90_000_000n, currency: 'USDT' });
  await own.sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
  const refund = await own.sdk.refunds.create({
    refund_id: `re_${randomUUID().replaceAll('-', '').slice(0, 26)}`,
    payment_id: session.payment_id,
  });
  expect(refund.claim_url).toContain('http');
  const path = `/api/v1/refunds/${refund.refund_id}`;
  const input = { merchantId, storeId, name: 'Reader', validityDays: 0, scopes: ['read'] };
  const reader = await storeKeys.createKey(service.app, input);
  expect((await send(`${service.baseUrl}${path}`, reader)).json.claim_url).toBeNull();
});

test('live and suspended merchants and stores that are not enabled', { timeout: LONG_MS }, async () => {
  const live = await service.createMerchant({ mode: 'live' });
  const owner = await signIn(service, live, 'owner');
  expect((await owner.call('/api/v1/balances')).status).toBe(200);
  const clock = await owner.call('/api/v1/test_helpers/clock/advance', {
    method: 'POST',
    body: { seconds: 5 },
  });
  expect([clock.status, clock.text]).toEqual([403, expect.stringContaining('sandbox merchants only')]);
  const { merchantId, storeId } = live;
  await changeStore(service.app, { merchantId, storeId }, { enabled: false });
  expect((await owner.call('/api/v1/balances')).text).toContain('X-Service-Store');
  await changeStore(service.app, { merchantId, storeId }, { enabled: true });
  await setMerchantStatus(service.app, merchantId, 'suspended');
  const suspended = await owner.call('/api/v1/balances');
  expect([suspended.status, suspended.text]).toEqual([403, expect.stringContaining('suspended')]);
});

test('the document brings along who is signed in, with the stores of their own merchant, and nobody else anything', {
  timeout: LONG_MS,
}, async () => {
  const other = await service.createMerchant();
  const viewer = await signIn(service, merchant, 'viewer');
  const read = async (headers: Record<string, string>, of: TestMerchant) => {
    const path = `/console/${encodeId('merchant', of.merchantId)}/${encodeId('store', of.storeId)}/payments`;
    const answer = await fetch(`${service.baseUrl}${path}`, { headers });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const html = await answer.text();
    expect(html).toMatch(/modulepreload[^>]+assets\/payments-/);
    const [, json = 'absent'] =
      /<script type="application\/json" id="start">([^<]*)<\/script>/.exec(html) ?? [];
    return json === '' ? undefined : JSON.parse(json);
  };
  const seen = { cookie: viewer.cookie, 'sec-fetch-dest': 'document' };
  const asked = async (path: string) => (await callAsPage(service, path, { cookie: viewer.cookie })).body;
  const id = encodeId('merchant', merchant.merchantId);
  const me = await asked('/console/api/me');
  const { data: stores } = await asked(`/console/api/merchants/${id}/stores`);
  expect(await read(seen, merchant)).toEqual({ me, merchant: { id, stores } });
  expect(await read(seen, other)).toEqual({ me });
  for (const headers of [
    { cookie: viewer.cookie },
    { ...seen, 'sec-fetch-dest': 'script' },
    { ...seen, 'sec-fetch-dest': 'iframe' },
    { ...seen, cookie: `${viewer.cookie}; ${viewer.cookie}` },
    { ...seen, cookie: `florin_session=${'x'.repeat(43)}` },
    { 'sec-fetch-dest': 'document' },
  ])
    expect(await read(headers, merchant)).toBeUndefined();
  expect((await viewer.call('/console/api/sign-out', { method: 'POST' })).status).toBe(200);
  expect(await read(seen, merchant)).toBeUndefined();
});
