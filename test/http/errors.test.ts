import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type SignedOptions, send } from '../signed-request.ts';
import { expectError, expectStandardHeaders, isPayoutPath } from './expect-error.ts';
import { type Api, callOf, loadApi } from './operations.ts';
import { query } from './rows.ts';

const BALANCES = '/api/v1/balances';
const BATCHES = '/api/v1/payout-batches';

let service: TestService;
let merchant: TestMerchant;
let api: Api;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
  api = await loadApi(service.baseUrl);
});
afterAll(() => service.stop());

const call = (path: string, options: SignedOptions = {}) =>
  send(`${service.baseUrl}${path}`, merchant, options);

const LONG = 'x'.repeat(8_000);
const UNKNOWN_PATHS = [
  '/',
  '/api',
  '/api/v1',
  '/api/v1/',
  '/api/v2/balances',
  '/API/V1/BALANCES',
  `${BALANCES}/`,
  `${BALANCES}//`,
  `/${BALANCES}`,
  `${BALANCES};a=1`,
  `${BALANCES}/x`,
  `${BALANCES}%2F`,
  `${BALANCES}%00`,
  '/api/v1/balances%20',
  '/api/v1/%ff',
  '/api/v1/%zz',
  '/api/v1/%',
  '/api/v1/..%2f..%2fetc/passwd',
  `/api/v1/${LONG}`,
  '/api/v1/payout-batchesx',
  '/api/v1/payout_batches',
  `${BATCHES}/a/`,
  `${BATCHES}/a/b`,
  `${BATCHES}/a/items/b/c`,
  `${BATCHES}/%ff/nothing`,
  `${BATCHES}/${LONG}/nothing`,
];

for (const path of UNKNOWN_PATHS) {
  const shown = path.length > 60 ? `${path.slice(0, 30)}…` : path;
  test(`an unknown path is 404 in the format of its family: ${shown}`, async () => {
    expectError(await call(path), path, { status: 404, code: 'resource_not_found' });
    expectError(await call(path, { body: '{"a":1}' }), path, { status: 404, code: 'resource_not_found' });
  });
}

test('an empty id names nothing, like any malformed one', async () => {
  for (const path of [`${BATCHES}/`, `${BATCHES}/a/items/`, `${BATCHES}//items`, `${BATCHES}//items/`]) {
    expectError(await call(path), path, { status: 404, code: 'resource_not_found' });
  }
});

test('a percent-encoded path is the path, in its family too', async () => {
  expect((await call('/api/v1/%62alances')).status).toBe(200);
  expect((await call('/api/v1/payout%2Dbatches')).status).toBe(200);
  const refused = await call('/api/v1/payout%2Dbatches?limit=0');
  expectError(refused, BATCHES, { status: 400, code: 'invalid_request' });
  expectError(await call('/api/v1/payout%2Dbatches/a/b'), `${BATCHES}/a/b`, { status: 404 });
});

test('every path that is known answers 405 with Allow to every other method, body or not', async () => {
  const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'QUERY', 'LINK', 'PURGE'];
  const known = Map.groupBy(api.operations, ({ path }) => path);
  for (const [path, operations] of known) {
    const allowed = operations.map(({ method }) => method);
    const { path: concrete } = callOf(service.baseUrl, api, operations[0] as (typeof operations)[0]);
    for (const method of methods.filter((name) => !allowed.includes(name))) {
      for (const body of method === 'POST' || method === 'PATCH' ? [undefined, '{}', '{'] : [undefined]) {
        const answer = await call(concrete, { method, ...(body === undefined ? {} : { body }) });
        const code = isPayoutPath(path) ? 'invalid_request' : 'method_not_allowed';
        expectError(answer, path, { status: 405, code });
        expect(answer.headers.get('allow')?.split(', ').sort()).toEqual([...allowed].sort());
      }
    }
  }
});

test('HEAD is a method like any other on calls, and reads the pages', async () => {
  const head = await call(BALANCES, { method: 'HEAD' });
  expect(head).toMatchObject({ status: 405, text: '' });
  expectStandardHeaders(head);
  expect(head.headers.get('allow')).toBe('GET');
  expect(await call('/api/v1/nothing', { method: 'HEAD' })).toMatchObject({ status: 404, text: '' });
  const page = await fetch(`${service.baseUrl}/healthz`, { method: 'HEAD' });
  expect(page.status).toBe(200);
  expect(await page.text()).toBe('');
});

test('pages need no signature and carry the headers of every answer', async () => {
  for (const path of ['/healthz', '/readyz', '/openapi.json', '/llms.txt']) {
    const response = await fetch(`${service.baseUrl}${path}`);
    expect(response.status).toBe(200);
    expectStandardHeaders({ ...response, status: 200, headers: response.headers, text: '', json: {} });
    await response.body?.cancel();
  }
});

test('answers that succeed carry the headers of every answer', async () => {
  for (const path of [BALANCES, BATCHES]) expectStandardHeaders(await call(path));
});

const TAKEN_OVER = ['abcdefgh', 'x'.repeat(64), 'A-z_0-9-', '0123456789'];
const NOT_TAKEN_OVER = [
  'abcdefg',
  'x'.repeat(65),
  'abc defgh',
  'abcdefg.',
  'abcdefgä',
  '<script>x</script>',
  '',
];
test("the caller's X-Request-ID is taken over where it has the form, else ours is new", async () => {
  for (const path of [BALANCES, '/api/v1/nothing', BATCHES]) {
    for (const id of TAKEN_OVER) {
      const answer = await call(path, { headers: { 'x-request-id': id } });
      expect(answer.headers.get('x-request-id')).toBe(id);
      if (path === '/api/v1/nothing') expect(answer.json.request_id).toBe(id);
    }
    const ours = new Set<string | null>();
    for (const id of NOT_TAKEN_OVER) {
      const answer = await call(path, { headers: { 'x-request-id': id } });
      expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
      ours.add(answer.headers.get('x-request-id'));
    }
    expect(ours.size).toBe(NOT_TAKEN_OVER.length);
  }
});

test('a version that exists may be named, another is 400', async () => {
  const named = (version: string) => call(BALANCES, { headers: { 'x-service-version': version } });
  expect((await named('2026-04-20')).status).toBe(200);
  for (const version of ['2026-04-21', '2026-4-20', '1', 'latest', '', '2026-04-20, 2026-04-20']) {
    expectError(await named(version), BALANCES, {
      status: 400,
      code: 'invalid_request_error',
      param: 'X-Service-Version',
    });
  }
});

test('what doc_url points at is there, for each code', async () => {
  const refused = [
    await call('/api/v1/nothing'),
    await call(BALANCES, { method: 'DELETE' }),
    await call(BALANCES, { headers: { 'x-service-signature': 'x' } }),
    await call('/api/v1/test_helpers/fund', { body: '{}' }),
    await call('/api/v1/test_helpers/fund', { body: 'x', headers: { 'content-type': 'text/plain' } }),
  ];
  const reader = await service.createMerchant({ scopes: ['read'], funds: 0n });
  refused.push(await send(`${service.baseUrl}/api/v1/test_helpers/fund`, reader, { body: '{}' }));
  const codes = new Set<string>();
  for (const { json } of refused) {
    const { doc_url: url, code = 'none' } = json.error as { doc_url: string; code?: string };
    codes.add(code);
    const page = await fetch(url);
    expect([url, page.status]).toEqual([url, 200]);
    expect(await page.text()).toContain('<h1>');
  }
  expect(codes.size).toBe(refused.length);
});

test('I15: a fault of ours is 500 without a word of the inside, in both formats', async () => {
  await query(service, 'alter table ledger_account rename to ledger_account_away');
  await query(service, 'alter table payout_batch rename to payout_batch_away');
  try {
    expectError(await call(BALANCES), BALANCES, { status: 500, code: 'internal_error' });
    expectError(await call(BATCHES), BATCHES, { status: 500, code: 'payout_error' });
  } finally {
    await query(service, 'alter table ledger_account_away rename to ledger_account');
    await query(service, 'alter table payout_batch_away rename to payout_batch');
  }
  expect((await call(BALANCES)).status).toBe(200);
});
