import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEntries } from '../../packages/server/src/audit/index.ts';
import { payoutCommands } from '../../packages/server/src/operator/payouts.ts';
import { Fail } from '../../packages/server/src/platform/fail.ts';
import * as storeApprovers from '../../packages/server/src/stores/approvers/index.ts';
import { listKeys } from '../../packages/server/src/stores/key-lists/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { configure } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { forgetProof, type Person, pageHeaders, signIn } from './people.ts';

const LONG_MS = 120_000;
const BATCHES = '/api/v1/payout-batches';
let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
}, LONG_MS);
afterAll(() => service.stop());

const keysOf = ({ merchantId, storeId }: TestMerchant) =>
  `/console/api/merchants/${encodeId('merchant', merchantId)}/stores/${encodeId('store', storeId)}/api-keys`;

/** Sends a form. */
async function post(person: Person, path: string, body: object, form: string = randomUUID()) {
  const headers = { 'idempotency-key': form };
  const { status, text } = await person.call(path, { method: 'POST', body, headers });
  return { status, text, body: JSON.parse(text) };
}
const keyBody = (scopes: string[], name = 'Web server') => ({ name, scopes, validity_days: 0 });
const statusOf = async (apiKey: string, secretKey: string) =>
  (await send(`${service.baseUrl}/api/v1/balances`, { apiKey, secretKey })).status;

test('keys: a form makes one key and one rotation, secrets are in one answer and in no log', {
  timeout: LONG_MS,
}, async () => {
  const own = await service.createMerchant();
  const path = keysOf(own);
  const developer = await signIn(service, own, 'developer');
  const form = randomUUID();
  const body = keyBody(['read', 'payouts']);
  const twice = await Promise.all([0, 1].map(() => post(developer, path, body, form)));
  expect(twice.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 409]));
  const made = twice.find(({ status }) => status === 200)?.body;
  const list = async () => JSON.parse((await developer.call(path)).text).data;
  const [first, listed, ...others] = await list();
  expect(others).toEqual([]);
  expect(listed).toMatchObject({ key_id: made.key_id, scopes: ['read', 'payouts'], expires_at: null });
  const one = `${path}/${made.key_id}`;
  const rotation = randomUUID();
  const rotate = () => post(developer, `${one}/rotate`, { overlap: 3_600 }, rotation);
  const [rotated, again] = [await rotate(), await rotate()];
  expect([rotated.status, again.status]).toEqual([200, 409]);
  // Both secrets are good: the second request ended none.
  for (const secret of [made.secret_key, rotated.body.secret_key])
    expect(await statusOf(made.api_key, secret)).toBe(200);
  expect((await list())[1].old_secret_until).toEqual(expect.any(String));
  expect((await post(developer, path, { ...body, scopes: [] })).body.error.param).toBe('scopes');
  const revoke = async (key: string) => await developer.call(`${path}/${key}`, { method: 'DELETE' });
  expect((await revoke(first.key_id)).text).toContain('signs the webhooks');
  expect((await revoke(made.key_id)).status).toBe(200);
  expect(await statusOf(made.api_key, rotated.body.secret_key)).toBe(401);
  expect((await post(developer, `${one}/rotate`, { overlap: 0 })).status).toBe(400);
  const entries = await listEntries(service.app.db, own.merchantId, { limit: 50 });
  const of = (action: string) => entries.filter((entry) => entry.action === action);
  // Of the two requests with one form one was made and one refused.
  const outcomes = of('createApiKey')
    .slice(-4)
    .filter(({ phase }) => phase !== 'attempted');
  expect(outcomes.map(({ phase }) => phase)).toEqual(expect.arrayContaining(['done', 'failed']));
  expect(outcomes.find(({ phase }) => phase === 'done')?.details).toMatchObject({
    result: { key_id: made.key_id },
  });
  const [done, attempted] = of('revokeApiKey');
  expect(done).toMatchObject({ phase: 'done', details: { after: { status: 'revoked' } } });
  expect(attempted).toMatchObject({ details: { before: { status: 'active', name: 'Web server' } } });
  const told = JSON.stringify([entries, await list(), again.body]);
  for (const secret of [made.api_key, made.secret_key, rotated.body.secret_key])
    expect(told.includes(secret)).toBe(false);
});

test('keys: proof, tenants, stores, and with real money no scope that the role does not permit', {
  timeout: LONG_MS,
}, async () => {
  const [live, foreign] = [
    await service.createMerchant({ mode: 'live' }),
    await service.createMerchant({ mode: 'live' }),
  ];
  const owner = await signIn(service, live, 'owner');
  const developer = await signIn(service, live, 'developer');
  const stranger = await signIn(service, foreign, 'owner');
  const path = keysOf(live);
  const made = await post(owner, path, keyBody(['read', 'payouts']));
  expect(made.status).toBe(200);
  const attempts = async (person: Person, at: string) => [
    (await person.call(at)).status,
    (await post(person, at, keyBody(['read']))).status,
    (await post(person, `${at}/${made.body.key_id}/rotate`, { overlap: 0 })).status,
    (await person.call(`${at}/${made.body.key_id}`, { method: 'DELETE' })).status,
  ];
  expect(await attempts(stranger, path)).toEqual([403, 403, 403, 403]);
  // The store of one merchant below the path of the other, and a key below another store.
  const mixed = path.replace(/stores\/\w+/, `stores/${encodeId('store', foreign.storeId)}`);
  const crossed = await owner.call(mixed);
  expect([crossed.status, crossed.body.data]).toEqual([200, []]);
  expect((await attempts(owner, mixed)).slice(1)).toEqual([404, 404, 404]);
  for (const scope of ['write', 'payouts', 'refunds']) {
    const refused = await post(developer, path, keyBody(['read', scope]));
    expect([refused.status, refused.body.error.param], scope).toEqual([403, 'scopes']);
  }
  expect((await post(developer, path, keyBody(['read']))).status).toBe(200);
  const givable = async (person: Person) => (await person.call(path)).body.givable_scopes;
  expect(await givable(developer)).toEqual(['read']);
  expect(await givable(owner)).toEqual(['read', 'write', 'payouts', 'refunds']);
  const one = `${path}/${made.body.key_id}`;
  expect((await post(developer, `${one}/rotate`, { overlap: 0 })).body.error.param).toBe('scopes');
  await forgetProof(service.app, owner);
  const param = (text: string) => JSON.parse(text).error.param;
  for (const at of [path, `${one}/rotate`])
    expect((await post(owner, at, {})).body.error.param).toBe('proof');
  expect(param((await owner.call(one, { method: 'DELETE' })).text)).toBe('proof');
});

async function approve(batch: string, as: string, token: string): Promise<string> {
  try {
    return (await payoutCommands(service.app).approve({ batch, as, token })).status;
  } catch (error) {
    if (error instanceof Fail) return error.code;
    throw error;
  }
}

async function callCsv(person: Person, of: TestMerchant, path: string): Promise<string> {
  const headers = { ...pageHeaders(service, person, of), accept: 'text/csv' };
  return await (await fetch(`${service.baseUrl}${path}`, { headers })).text();
}

test('F6: whoever was shown the secret of a key approves nothing that it drew up', {
  timeout: LONG_MS,
}, async () => {
  const own = await service.createMerchant();
  await configure(service, own, { approvalAbove: '1.00' });
  const { merchantId } = own;
  const [maker, rotator] = [await signIn(service, own, 'owner'), await signIn(service, own, 'owner')];
  const third = await signIn(service, own, 'approver');
  const tokens = new Map<string, string>();
  for (const [name, person] of [
    ['Maker', maker],
    ['Rotator', rotator],
    ['Third', third],
  ] as const) {
    tokens.set(name, await storeApprovers.addApprover(service.app, merchantId, name));
    await storeApprovers.linkApprover(service.app, merchantId, { name, userId: person.userId });
  }
  tokens.set('Unknown', await storeApprovers.addApprover(service.app, merchantId, 'Unknown'));
  const path = keysOf(own);
  const shown = async (person: Person, at: string, body: object) => {
    const headers = { 'idempotency-key': randomUUID() };
    const { status, text } = await person.call(at, { method: 'POST', body, headers });
    expect([status, text]).toEqual([200, expect.stringContaining('secret_key')]);
    return JSON.parse(text) as { key_id: string; api_key: string; secret_key: string };
  };
  const scopes = ['read', 'payouts', 'refunds'];
  const made = await shown(maker, path, { name: 'Shop', scopes, validity_days: 1 });
  const rotated = await shown(rotator, `${path}/${made.key_id}/rotate`, { overlap: 0 });
  const key = { apiKey: made.api_key, secretKey: rotated.secret_key };
  const { erc20 } = await own.sdk.testHelpers.addresses();
  const created = await send(`${service.baseUrl}${BATCHES}`, key, {
    body: JSON.stringify({
      currency: 'USDT',
      items: [{ network: 'erc20', address: erc20.succeed, amount: '20.00' }],
    }),
    headers: { 'idempotency-key': randomUUID() },
  });
  const batch = String(created.json.batch_id);
  const submit = { method: 'POST', body: '{}' };
  await send(`${service.baseUrl}${BATCHES}/${batch}/submit`, key, submit);
  const decide = (name: string) => approve(batch, name, tokens.get(name) ?? '');
  for (const name of ['Maker', 'Rotator', 'Unknown']) expect(await decide(name), name).toBe('forbidden');
  const decision = `${path.replace(/stores.*/, 'payout-batches')}/${batch}/decision`;
  const signedIn = (person: Person) =>
    person.call(decision, { method: 'POST', body: { decision: 'approved' } });
  for (const person of [maker, rotator])
    expect((await signedIn(person)).text).toContain('or a key of theirs');
  expect((await signedIn(third)).body.status).toBe('pending');
  const session = await own.sdk.checkout.sessions.create({ amount: 1_000n, currency: 'USDT' });
  await own.sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
  const refund = { refund_id: `re_${randomUUID().slice(0, 8)}`, payment_id: session.payment_id };
  const refunded = await send(`${service.baseUrl}/api/v1/refunds/create`, key, {
    body: JSON.stringify(refund),
  });
  expect(refunded.status).toBe(200);
  const row = await service.app.db
    .selectFrom('refund')
    .select('authors')
    .where('merchant_id', '=', merchantId)
    .executeTakeFirstOrThrow();
  expect(row.authors.toSorted()).toEqual([maker.userId, rotator.userId].toSorted());
  const used = async () =>
    (await listKeys(service.app, { merchantId })).find(({ key_id }) => key_id === made.key_id)?.last_used_at;
  await expect.poll(used, { timeout: 10_000 }).toEqual(expect.any(String));
});

test('the request log: of a store with filters and CSV, one request of the merchant, and never of another', {
  timeout: LONG_MS,
}, async () => {
  const [own, other] = [await service.createMerchant(), await service.createMerchant()];
  const support = await signIn(service, own, 'support');
  const stranger = await signIn(service, other, 'owner');
  const ofMerchant = `/console/api/merchants/${encodeId('merchant', own.merchantId)}`;
  const list = `${ofMerchant}/stores/${encodeId('store', own.storeId)}/requests`;
  const missing = await send(`${service.baseUrl}/api/v1/payment/pay_nothing`, own);
  const id = missing.headers.get('x-request-id') ?? '';
  const { request_log_url: link } = missing.json.error as { request_log_url?: string };
  expect(link).toBe(`${service.baseUrl.replace('127.0.0.1', 'localhost')}/console/requests/${id}`);
  const unknown = { apiKey: `${own.apiKey.slice(0, -4)}aaaa`, secretKey: own.secretKey };
  const [wrong, strange] = [{ ...own, secretKey: 'wrong' }, unknown].map((key) =>
    send(`${service.baseUrl}/api/v1/balances`, key),
  );
  // The answers must not tell which keys exist.
  const errorOf = async (answer: typeof wrong) => Object.keys(Object((await answer)?.json.error));
  expect(await errorOf(wrong)).toEqual(await errorOf(strange));
  expect(await errorOf(wrong)).toContain('request_log_url');
  const bare = await fetch(`${service.baseUrl}/api/v1/balances`);
  expect(await bare.text()).not.toContain('request_log_url');
  const idsOf = async (query: string) => {
    const { status, text } = await support.call(`${list}?${query}`);
    expect([status, text], query).toEqual([200, expect.any(String)]);
    return (JSON.parse(text) as { data: { request_id: string }[] }).data.map(({ request_id }) => request_id);
  };
  await expect.poll(() => idsOf(`request_id=${id}`), { timeout: 10_000 }).toEqual([id]);
  const key = encodeId('key', own.keyId);
  for (const query of [
    'status=404',
    `status=4xx&key_id=${key}`,
    'route=/api/v1/pay',
    'since=1&error_code=resource_not_found',
  ])
    expect(await idsOf(query), query).toContain(id);
  for (const query of [
    'status=5xx',
    'route=%25',
    'until=1',
    `key_id=${encodeId('key', other.keyId)}`,
    'refusal=nonce',
  ])
    expect(await idsOf(query), query).toEqual([]);
  for (const query of ['status=fine', 'refusal=mood', 'key_id=x', 'starting_after=req_x', 'mood=1'])
    expect((await support.call(`${list}?${query}`)).status, query).toBe(400);
  const csv = await callCsv(support, own, list);
  expect(csv.split('\n')[0]).toContain('request_id');
  expect(csv.trimEnd()).toMatch(/# \d+ rows$/);
  expect((await support.call(`${ofMerchant}/requests/${id}`)).body).toMatchObject({
    request_id: id,
    status: 404,
  });
  for (const path of [list, `${ofMerchant}/requests/${id}`])
    expect((await stranger.call(path)).status, path).toBe(403);
  const elsewhere = ofMerchant.replace(/mer_\w+/, encodeId('merchant', other.merchantId));
  expect((await stranger.call(`${elsewhere}/requests/${id}`)).status).toBe(404);
  const crossed = await stranger.call(`${elsewhere}/stores/${encodeId('store', own.storeId)}/requests`);
  expect(crossed.body).toMatchObject({ data: [], has_more: false });
  expect((await support.call('/api/v1/payment/pay_nothing')).text).not.toContain('request_log_url');
});

test('webhook secret: a key is named by who saw the one before, signs after the overlap or its end, and is audited', {
  timeout: LONG_MS,
}, async () => {
  const [own, other] = [await service.createMerchant(), await service.createMerchant()];
  const path = keysOf(own).replace('api-keys', 'webhook-key');
  const developer = await signIn(service, own, 'developer');
  const read = async () => (await developer.call(path)).body;
  const first = encodeId('key', own.keyId);
  const fresh = { is_old_secret: false, old_secret_until: null };
  expect(await read()).toEqual({ key_id: first, signing_key_id: first, ...fresh });
  const next = (await post(developer, keysOf(own), keyBody(['read'], 'Next'))).body.key_id;
  const name = async (key_id: string, seen_key_id: string | null, overlap = 3_600) =>
    (await developer.call(path, { method: 'PUT', body: { key_id, overlap, seen_key_id } })).status;
  expect(await name(next, null)).toBe(409);
  expect(await name(next, next)).toBe(409);
  expect(await name(encodeId('key', other.keyId), first)).toBe(404);
  expect(await name('key_x', first)).toBe(404);
  expect(await name(next, first, 31 * 86_400)).toBe(400);
  expect(await read()).toMatchObject({ key_id: first });
  expect(await name(next, first)).toBe(200);
  const until = { old_secret_until: expect.any(String) };
  expect(await read()).toEqual({ key_id: next, signing_key_id: first, is_old_secret: false, ...until });
  const confirm = async (who = developer, change: object = {}) => {
    const { key_id: seen_key_id, old_secret_until: seen_until } = Object(await read());
    const body = { seen_key_id, seen_until, ...change };
    return (await who.call(`${path}/confirm`, { method: 'POST', body })).status;
  };
  // Somebody names another key, or rotates this one, while the page is read.
  expect(await confirm(developer, { seen_key_id: first })).toBe(409);
  expect(await confirm(developer, { seen_until: null })).toBe(409);
  expect(await confirm()).toBe(200);
  expect(await read()).toEqual({ key_id: next, signing_key_id: next, ...fresh });
  // Rotating the key that signs begins an overlap of its own two secrets.
  expect((await post(developer, `${keysOf(own)}/${next}/rotate`, { overlap: 60 })).status).toBe(200);
  expect(await read()).toEqual({ key_id: next, signing_key_id: next, is_old_secret: true, ...until });
  expect(await confirm()).toBe(200);
  expect(await read()).toEqual({ key_id: next, signing_key_id: next, ...fresh });
  const stranger = await signIn(service, other, 'owner');
  for (const status of [await confirm(stranger), (await stranger.call(path)).status])
    expect(status).toBe(403);
  const finance = await signIn(service, own, 'finance');
  expect((await finance.call(path)).status).toBe(403);
  await forgetProof(service.app, developer);
  expect(await confirm()).toBe(403);
  const entries = await listEntries(service.app.db, own.merchantId, { limit: 50 });
  const done = entries.find(({ action, phase }) => action === 'setWebhookKey' && phase === 'done');
  const attempted = entries.find(({ action, phase }) => action === 'setWebhookKey' && phase === 'attempted');
  expect(done?.details).toMatchObject({ after: { key_id: next, signing_key_id: first } });
  expect(attempted?.details).toMatchObject({ before: { key_id: first } });
  expect((await developer.call(keysOf(own).replace(/stores.*/, 'explorers'))).body).toEqual({ data: [] });
});

test('who goes leaves the keys behind that they know; second factors are reset by another owner alone', {
  timeout: LONG_MS,
}, async () => {
  const [own, other] = [await service.createMerchant(), await service.createMerchant()];
  const people = keysOf(own).replace(/stores.*/, 'users');
  const [owner, second, admin, developer] = await Promise.all(
    (['owner', 'owner', 'admin', 'developer'] as const).map((role) => signIn(service, own, role)),
  );
  if (!owner || !second || !admin || !developer) throw new Error('four people are signed in');
  const made = (await post(developer, keysOf(own), keyBody(['read'], 'Theirs'))).body.key_id;
  const keysOfUser = async ({ userId }: Person) => {
    const { text } = await owner.call(`${people}/${encodeId('user', userId)}/keys`);
    const { data }: { data: { key_id: string }[] } = JSON.parse(text);
    return data.map(({ key_id }) => key_id);
  };
  expect([await keysOfUser(developer), await keysOfUser(admin)]).toEqual([[made], []]);
  await owner.call(`${keysOf(own)}/${made}`, { method: 'DELETE' });
  expect(await keysOfUser(developer)).toEqual([]);

  const { db } = service.app;
  await db
    .updateTable('console_user')
    .set({ totp_confirmed: true, totp_secret: Buffer.from('sealed') })
    .where('user_id', 'in', [developer.userId, owner.userId])
    .execute();
  await db
    .insertInto('console_recovery_code')
    .values({ user_id: developer.userId, digest: Buffer.from('code'), used_at_ms: null })
    .execute();
  const reset = async (by: Person, whose: Person) =>
    (await by.call(`${people}/${encodeId('user', whose.userId)}/reset-factors`, { method: 'POST', body: {} }))
      .status;
  expect(await reset(admin, developer)).toBe(403);
  expect(await reset(owner, owner)).toBe(403);
  expect(await reset(owner, await signIn(service, other, 'viewer'))).toBe(404);
  await forgetProof(service.app, second);
  expect(await reset(second, developer)).toBe(403);
  const { merchantId } = other;
  const elsewhere = { merchant_id: merchantId, user_id: developer.userId };
  await db
    .insertInto('console_membership')
    .values({ ...elsewhere, role: 'viewer', created_at_ms: 0 })
    .execute();
  expect(await reset(owner, developer)).toBe(409);
  expect((await developer.call('/console/api/me')).body).toMatchObject({ second_factor: true });
  await db.deleteFrom('console_membership').where('merchant_id', '=', merchantId).execute();
  expect(await reset(owner, developer)).toBe(200);
  expect((await developer.call('/console/api/me')).status).toBe(401);
  const left = await db.selectFrom('console_recovery_code').selectAll().execute();
  expect(left.filter(({ user_id }) => user_id === developer.userId)).toEqual([]);
  const { data: listed }: { data: { user_id: string; second_factor: boolean }[] } = JSON.parse(
    (await owner.call(people)).text,
  );
  const factorOf = ({ userId }: Person) =>
    listed.find(({ user_id }) => user_id === encodeId('user', userId))?.second_factor;
  expect([factorOf(developer), factorOf(owner)]).toEqual([false, true]);
  const entries = await listEntries(db, own.merchantId, { limit: 50 });
  const outcomes = entries.filter(({ action }) => action === 'resetFactors').map(({ phase }) => phase);
  expect(outcomes).toContain('done');
});
