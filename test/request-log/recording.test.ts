import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findRequest, listRequests } from '../../packages/server/src/request-log/index.ts';
import { changeStore } from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { query } from '../http/rows.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { loggedOf } from './logged.ts';

const SESSIONS = '/api/v1/checkout/sessions/create';

let service: TestService;
let merchant: TestMerchant;
let other: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant();
  other = await service.createMerchant();
});
afterAll(() => service.stop());

const call = (path: string, options: Parameters<typeof send>[2] = {}, credentials = merchant) =>
  send(`${service.baseUrl}${path}`, credentials, options);

/** Everything that the log holds, as text. */
const wholeLog = async () => JSON.stringify(await query(service, 'select * from request_log'));

test('a request is logged with its answer, its key and its route', async () => {
  const beforeMs = Date.now();
  const body = JSON.stringify({ amount: 1_234, currency: 'USD', metadata: { cart: 'A-1' } });
  const answer = await call(SESSIONS, { body });
  const logged = await loggedOf(service, answer);
  expect(logged).toMatchObject({
    id: answer.headers.get('x-request-id'),
    request_id: answer.headers.get('x-request-id'),
    merchant: encodeId('merchant', merchant.merchantId),
    store: encodeId('store', merchant.storeId),
    key: encodeId('key', merchant.keyId),
    verified: true,
    method: 'POST',
    route: SESSIONS,
    path: SESSIONS,
    query: '',
    status: 200,
    error_code: null,
    refusal: null,
    remote_address: '127.0.0.1',
    request_body: { bytes: body.length, text: body, is_cut: false },
    explanation: null,
  });
  expect(Math.abs(Date.parse(logged.at) - beforeMs)).toBeLessThan(60_000);
  expect(logged.duration_ms).toBeGreaterThan(0);
  expect(logged.answer_body.bytes).toBe(Buffer.byteLength(answer.text));
  const shown = JSON.parse(logged.answer_body.text ?? '');
  expect(shown).toEqual({ ...answer.json, url: expect.stringMatching(/\/checkout\/\[redacted\]$/) });
});

test('refusals carry their code: an unknown path, a wrong method, a wrong body, a missing scope, a disabled store', async () => {
  const reader = await service.createMerchant({ funds: 0n, scopes: ['read'] });
  const closed = await service.addStore(merchant);
  await changeStore(service.app, closed, { enabled: false });
  const cases = [
    [await call('/api/v1/nothing?a=1'), { status: 404, route: 'unmatched', query: 'a=1' }],
    [await call('/api/v1/balances', { body: '{}' }), { status: 405, route: '/api/v1/balances' }],
    [await call(SESSIONS, { body: '{"amount":-1}' }), { status: 400, error_code: 'parameter_missing' }],
    [await call(SESSIONS, { body: '{}' }, reader), { status: 403, error_code: 'forbidden', verified: true }],
    [await call('/api/v1/balances', {}, closed), { status: 403, error_code: 'forbidden', verified: true }],
    [await call('/api/v1/payout-batches', { body: '{}' }), { status: 400, error_code: 'invalid_request' }],
  ] as const;
  for (const [answer, expected] of cases) {
    const logged = await loggedOf(service, answer);
    expect(logged).toMatchObject({ ...expected, refusal: null });
    expect(logged.answer_body.text).toBe(answer.text);
  }
});

test('a request id of the caller names each of its requests, even where it looks like one of ours', async () => {
  for (const requestId of [`mine-${randomUUID()}`, `req_${randomUUID().replaceAll('-', '')}`]) {
    const headers = { 'x-request-id': requestId };
    const [first, second] = [
      await call('/api/v1/balances', { headers }),
      await call('/api/v1/events', { headers }),
    ];
    await loggedOf(service, first);
    const list = async (limit: number, after?: string) =>
      await listRequests(service.app.db, { merchantId: merchant.merchantId, requestId }, { limit, after });
    await expect.poll(async () => (await list(10)).data.length, { timeout: 30_000 }).toBe(2);
    const { data } = await list(10);
    expect(data.map((one) => one.route)).toEqual(['/api/v1/events', '/api/v1/balances']);
    expect(await loggedOf(service, second)).toMatchObject({ request_id: requestId, route: '/api/v1/events' });
    const page = await list(1);
    expect([page.has_more, (await list(1, page.data[0]?.id)).data]).toEqual([true, [data[1]]]);
  }
});

test('CSV exports and event streams are logged without their body', async () => {
  const csv = await call('/api/v1/payments', { headers: { accept: 'text/csv' } });
  const stream = await call('/api/v1/events/stream');
  for (const answer of [csv, stream]) {
    const logged = await loggedOf(service, answer);
    expect(logged).toMatchObject({ status: 200, answer_body: { bytes: 0, text: null, is_cut: false } });
  }
});

test('long bodies are cut to 16 kB between two characters, marked, and no half of a word is left', async () => {
  const text = 'ö東😀'.repeat(40);
  const metadata = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key ${i}`, `${text} ${i}`]));
  const body = JSON.stringify({ amount: 1, currency: 'USD', metadata, x: 'fls_test_'.padEnd(60, 'A') });
  const long = `${body.slice(0, -1)},"y":"${'z '.repeat(20_000)}"}`;
  const logged = await loggedOf(service, await call(SESSIONS, { body: long }));
  const kept = logged.request_body.text ?? '';
  expect(logged.request_body).toMatchObject({ bytes: Buffer.byteLength(long), is_cut: true });
  expect([kept.isWellFormed(), kept.endsWith('[...]'), Buffer.byteLength(kept) <= 16_384]).toEqual([
    true,
    true,
    true,
  ]);
});

test('bytes that are no text, NUL characters and halves of characters are stored as what can be', async () => {
  for (const body of [Buffer.from([0, 255, 0x1e, 65]), '{"a":"\\ud800","b":"\\u0000"}', '\0\u001e{}']) {
    const answer = await call(SESSIONS, { body });
    const logged = await loggedOf(service, answer);
    expect(logged.status).toBe(400);
    expect(logged.request_body.text?.isWellFormed()).toBe(true);
  }
});

test('nothing of a key that does not exist, of no key and of pages is logged', async () => {
  const count = async () => (await query(service, 'select from request_log')).length;
  await call('/api/v1/balances');
  await service.app.requestLog?.flush();
  const before = await count();
  const unknown = `fl_test_${merchant.apiKey.slice(8, -3)}zzz`;
  const strangers = [
    await call('/api/v1/balances', {}, { ...merchant, apiKey: unknown }),
    await call(SESSIONS, { body: '{}' }, { ...merchant, apiKey: 'fl_test_nothing' }),
    await call(
      '/api/v1/balances',
      { headers: { 'x-service-nonce': 'short' } },
      { ...merchant, apiKey: unknown },
    ),
  ];
  expect(strangers.map(({ status }) => status)).toEqual([401, 401, 401]);
  await fetch(`${service.baseUrl}/api/v1/balances`);
  await fetch(`${service.baseUrl}/healthz`);
  await fetch(`${service.baseUrl}/docs`);
  await service.app.requestLog?.flush();
  expect(await count()).toBe(before);
});

test('no merchant sees a request of another one', async () => {
  const mine = await call('/api/v1/balances');
  await loggedOf(service, mine);
  const theirs = await call('/api/v1/balances', {}, other);
  await loggedOf(service, theirs);
  const id = mine.headers.get('x-request-id') ?? '';
  const { db } = service.app;
  expect(await findRequest(db, id, other.merchantId)).toBeUndefined();
  const filter = { merchantId: other.merchantId };
  const { data } = await listRequests(db, filter, { limit: 100, after: undefined });
  expect(new Set(data.map((one) => one.merchant))).toEqual(new Set([encodeId('merchant', other.merchantId)]));
  await expect(listRequests(db, filter, { limit: 1, after: id })).rejects.toThrow('starting_after');
});

test('no key, secret, nor address that opens a page is in the log', async () => {
  const { sdk } = merchant;
  const customer = `c-${randomUUID()}`;
  await sdk.customers.create({ external_customer_id: customer });
  const session = await sdk.checkout.sessions.create({ amount: 5_000_000n, currency: 'USDT' });
  const link = await sdk.paymentLinks.create({ amount: 5_000_000n, currency: 'USDT' });
  const portal = await sdk.portal.sessions.create({ customer, return_url: 'https://shop.example/back' });
  const headers = {
    cookie: 'session=abcdefgh',
    'x-api-token': 'my-own-token',
    'x-plain': merchant.secretKey,
  };
  await call(`/api/v1/balances?key=${merchant.secretKey}`, { headers });
  const last = await call(`/api/v1/events/${merchant.apiKey}`);
  await loggedOf(service, last);
  await service.app.requestLog?.flush();
  const log = await wholeLog();
  const opening = [session.url, link.url, portal.url].map(
    (url) => new URL(url).pathname.split('/').at(-1) ?? '',
  );
  for (const token of opening) expect(token.length).toBeGreaterThan(20);
  const secrets = [merchant.apiKey, merchant.secretKey, other.apiKey, ...opening, 'abcdefgh', 'my-own-token'];
  for (const secret of secrets) expect(log.includes(secret), secret).toBe(false);
  expect(log).toContain('[redacted]');
});
