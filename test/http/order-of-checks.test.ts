import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type SignedOptions, send } from '../signed-request.ts';
import { type ExpectedError, expectError } from './expect-error.ts';

const BALANCES = '/api/v1/balances';
const BATCHES = '/api/v1/payout-batches';
const FUND = '/api/v1/test_helpers/fund';
const UNKNOWN_BATCH = 'pb_00000000000000000000000000';

let service: TestService;
let merchant: TestMerchant;
/** A key that may only read. */
let reader: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant();
  reader = await service.createMerchant({ scopes: ['read'], funds: 0n });
});
afterAll(() => service.stop());

const nobody = { apiKey: 'fl_test_nobody', secretKey: 'none' };
const tooLarge = Buffer.alloc(1_048_577, ' ');
const batchOf = (...amounts: string[]) =>
  JSON.stringify({
    currency: 'USDT',
    items: amounts.map((amount) => ({ network: 'erc20', address: 'a', amount })),
  });

async function expectRefusal(
  path: string,
  sender: { apiKey: string; secretKey: string },
  options: SignedOptions,
  expected: ExpectedError,
): Promise<void> {
  expectError(await send(`${service.baseUrl}${path}`, sender, options), path, expected);
}

test('the size is judged before the signature, on every path', async () => {
  for (const path of [BATCHES, FUND, '/api/v1/nothing', `${BATCHES}/nothing/here`]) {
    const code = path.startsWith(BATCHES) ? 'invalid_request' : 'body_too_large';
    await expectRefusal(path, nobody, { body: tooLarge }, { status: 413, code });
  }
});

test('who is not authenticated learns of no path and no method', async () => {
  const structured = { status: 401, code: 'invalid_api_key' };
  const payout = { status: 401, code: 'authentication_required' };
  await expectRefusal('/', nobody, {}, structured);
  await expectRefusal('/api/v1/nothing', nobody, {}, structured);
  await expectRefusal(BALANCES, nobody, { method: 'DELETE' }, structured);
  await expectRefusal(FUND, nobody, { method: 'OPTIONS' }, structured);
  await expectRefusal('/healthz', nobody, { method: 'DELETE' }, structured);
  await expectRefusal(`${BATCHES}/nothing/here`, nobody, {}, payout);
  await expectRefusal(BATCHES, nobody, { method: 'PUT', body: '{}' }, payout);
  await expectRefusal(
    BATCHES,
    nobody,
    { method: 'QUERY', headers: { 'content-type': 'text/plain' } },
    payout,
  );
});

test('the signature is judged before content type, encoding, version, key and JSON', async () => {
  for (const headers of [
    { 'content-type': 'text/plain' },
    { 'content-type': ';;;' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-encoding': 'gzip' },
    { 'x-service-version': '1999-01-01' },
    { 'idempotency-key': '' },
  ]) {
    const options = { body: '{', headers };
    await expectRefusal(BATCHES, nobody, options, { status: 401, code: 'authentication_required' });
  }
});

test('the rate limit is judged before the route, and after the signature', async () => {
  const slow = await service.addNode({ rate: { perSecond: 0.001, burst: 1 } });
  const of = (path: string, options: SignedOptions = {}) => send(`${slow}${path}`, reader, options);
  expect((await of(BALANCES)).status).toBe(200);
  for (const path of [BALANCES, '/api/v1/nothing', FUND]) {
    expectError(await of(path), path, { status: 429, code: 'RATE_LIMIT_EXCEEDED' });
  }
  for (const path of [BATCHES, `${BATCHES}/nothing/here`]) {
    const answer = await of(path, { method: 'PUT', body: '{' });
    expectError(answer, path, { status: 429, code: 'rate_limited' });
  }
  const unsigned = await send(`${slow}${BALANCES}`, { ...reader, secretKey: 'wrong' });
  expectError(unsigned, BALANCES, { status: 401 });
});

test('path and method are judged before the permission', async () => {
  await expectRefusal('/api/v1/nothing', reader, { body: '{' }, { status: 404 });
  await expectRefusal(FUND, reader, { method: 'PUT', body: '{' }, { status: 405 });
  await expectRefusal(BATCHES, reader, { method: 'DELETE' }, { status: 405, code: 'invalid_request' });
});

test('the permission is judged before key, content type, shape and resource', async () => {
  const forbidden = { status: 403, code: 'forbidden' };
  await expectRefusal(BATCHES, reader, { body: '{' }, forbidden);
  await expectRefusal(BATCHES, reader, { body: '{', headers: { 'content-type': 'text/plain' } }, forbidden);
  await expectRefusal(`${BATCHES}/x/submit`, reader, { body: '{"a":1}' }, forbidden);
  await expectRefusal(
    '/api/v1/test_helpers/chains/nosuch',
    reader,
    { body: '{' },
    { status: 403, code: null },
  );
});

test('Idempotency-Key is judged before content type and shape', async () => {
  const missing = await send(`${service.baseUrl}${BATCHES}`, merchant, {
    body: '{',
    headers: { 'content-type': 'text/plain' },
  });
  expectError(missing, BATCHES, { status: 400, code: 'invalid_request' });
  expect(missing.json.message).toContain('Idempotency-Key');
});

test('content type and shape are judged before the resource', async () => {
  const path = `${BATCHES}/${UNKNOWN_BATCH}/submit`;
  const invalid = { status: 400, code: 'invalid_request' };
  await expectRefusal(
    path,
    merchant,
    { body: '{}', headers: { 'content-type': 'text/plain' } },
    { status: 415 },
  );
  await expectRefusal(path, merchant, { body: '{' }, invalid);
  await expectRefusal(path, merchant, { body: '{"force":true}' }, invalid);
  await expectRefusal(`${path}?force=true`, merchant, { body: '{}' }, invalid);
  await expectRefusal(`${BATCHES}/${UNKNOWN_BATCH}?a=1`, merchant, {}, invalid);
  await expectRefusal('/api/v1/test_helpers/chains/nosuch', merchant, { body: '{"a":1}' }, { status: 400 });
  await expectRefusal(path, merchant, { body: '{}' }, { status: 404, code: 'resource_not_found' });
});

test('the key is looked up before the business rules, and a refused request binds none', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const tooMuch = batchOf('1000000.00', '0.01');
  const refused = { status: 400, code: 'batch_amount_limit_exceeded' };
  await expectRefusal(BATCHES, merchant, { body: tooMuch, headers }, refused);
  const created = await send(`${service.baseUrl}${BATCHES}`, merchant, { body: batchOf('1.00'), headers });
  expect(created.status).toBe(200);
  await expectRefusal(BATCHES, merchant, { body: tooMuch, headers }, { status: 409, code: 'conflict' });
  await expectRefusal(
    BATCHES,
    merchant,
    { body: '{"currency":"USDT","items":[]}', headers },
    { status: 400, code: 'batch_empty_items' },
  );
});

test('the state is judged before the business rules', async () => {
  const penniless = await service.createMerchant({ funds: 0n });
  const { erc20 } = await penniless.sdk.testHelpers.addresses();
  const batch = await penniless.sdk.payouts.create({
    currency: 'USDT',
    items: [{ network: 'erc20', address: erc20.succeed, amount: '1.00' }],
  });
  const path = `${BATCHES}/${batch.batch_id}/submit`;
  const submit = { method: 'POST' };
  await expectRefusal(path, penniless, submit, { status: 400, code: 'insufficient_balance' });
  await penniless.sdk.payouts.cancel(batch.batch_id);
  await expectRefusal(path, penniless, submit, { status: 400, code: 'batch_cannot_submit' });
});
