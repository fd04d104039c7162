import { randomUUID } from 'node:crypto';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';
import { expectError, isPayoutPath } from './expect-error.ts';
import { type Api, callOf, loadApi } from './operations.ts';

const FUND = '/api/v1/test_helpers/fund';
const BODY = '{"currency":"USDT","network":"erc20","amount":1}';

let service: TestService;
let merchant: TestMerchant;
let api: Api;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
  api = await loadApi(service.baseUrl);
});
afterAll(() => service.stop());

const unsupported = { status: 415, code: 'unsupported_media_type' };
const fund = (body: string | Uint8Array, headers: Record<string, string>) =>
  send(`${service.baseUrl}${FUND}`, merchant, { body, headers });

const TAKEN = [
  'application/json',
  'APPLICATION/JSON',
  'Application/Json; charset=UTF-8',
  'application/json;charset=utf-8',
  'application/json ; charset=utf-8',
  'application/json; charset=utf-16',
  'application/json; q=";"',
  'application/json;',
  ' application/json ',
];
const NOT_TAKEN = [
  'text/json',
  'text/plain',
  'text/html',
  'text/plain; application/json',
  'application/jsonp',
  'application/json5',
  'application/x-json',
  'application/vnd.api+json',
  'application/ld+json',
  'application/problem+json',
  'application/json-patch+json',
  'application/*',
  '*/*',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'application/xml',
  'json',
  'application',
  'application/',
  '/json',
  'application/json, text/plain',
  'text/plain, application/json',
  '"application/json"',
  'application /json',
  ';',
  'x',
];

test('D6: a body is taken as application/json, whatever its parameters', async () => {
  for (const type of TAKEN) {
    const answer = await fund(BODY, { 'content-type': type });
    expect([type, answer.status]).toEqual([type, 200]);
  }
});

test('D6: any other Content-Type is 415', async () => {
  for (const type of NOT_TAKEN) {
    const answer = await fund(BODY, { 'content-type': type });
    expect([type, answer.status]).toEqual([type, 415]);
    expectError(answer, FUND, unsupported);
  }
});

test('D6: a body without a Content-Type, of another type or encoded is 415 on every call', async () => {
  for (const operation of api.operations.filter(({ body }) => body !== undefined)) {
    const { url, path, options } = callOf(service.baseUrl, api, operation);
    const code = isPayoutPath(path) ? 'invalid_request' : 'unsupported_media_type';
    for (const headers of [{ 'content-type': 'text/plain' }, { 'content-encoding': 'gzip' }]) {
      const answer = await send(url, merchant, { ...options, headers: { ...options.headers, ...headers } });
      expectError(answer, path, { status: 415, code });
    }
  }
  const untyped = await fund(BODY, { 'content-type': '' });
  expectError(untyped, FUND, unsupported);
});

const ENCODERS: [name: string, encode: (bytes: Buffer) => Uint8Array][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['gzip, gzip', (bytes) => gzipSync(gzipSync(bytes))],
  ['identity', (bytes) => bytes],
  ['utf-8', (bytes) => bytes],
  ['*', (bytes) => bytes],
];
for (const [name, encode] of ENCODERS) {
  test(`D6: a body in Content-Encoding ${name} (${encode.name || 'as it is'}) is 415, rightly signed or not`, async () => {
    const encoded = encode(Buffer.from(BODY));
    expectError(await fund(encoded, { 'content-encoding': name }), FUND, unsupported);
    expectError(await fund(BODY, { 'content-encoding': name }), FUND, unsupported);
    const signed = { body: encoded, signedBody: BODY, headers: { 'content-encoding': name } };
    const answer = await send(`${service.baseUrl}${FUND}`, merchant, signed);
    if (name !== 'identity' && name !== 'utf-8' && name !== '*') expectError(answer, FUND, { status: 401 });
  });
}

test('D6: a compressed body without its name is no JSON', async () => {
  expectError(await fund(gzipSync(BODY), {}), FUND, { status: 400, code: 'invalid_request_error' });
});

test('D6, fault 28: bombs are 415 and never inflated: the memory stays as it was', async () => {
  const zeros = Buffer.alloc(300_000_000);
  const large = await fund(Buffer.alloc(1_048_577), { 'content-encoding': 'gzip' });
  expectError(large, FUND, { status: 413, code: 'body_too_large' });
  const bombs = [
    ['gzip', gzipSync(zeros, { level: 9 })],
    ['br', brotliCompressSync(zeros.subarray(0, 100_000_000))],
  ] as const;
  for (const [name, bomb] of bombs) {
    expect(bomb.length).toBeLessThan(1_048_576);
    const before = process.memoryUsage().rss;
    for (let n = 0; n < 5; n++) {
      expectError(await fund(bomb, { 'content-encoding': name }), FUND, unsupported);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(90_000_000);
  }
});

test('a body on a method that has none is 400, and what it was signed with decides first', async () => {
  const path = '/api/v1/payout-batches/pb_00000000000000000000000000/items/pbi_00000000000000000000000000';
  const url = `${service.baseUrl}${path}`;
  const signedEmpty = await send(url, merchant, { method: 'DELETE', body: '{}', signedBody: '' });
  expectError(signedEmpty, path, { status: 400, code: 'invalid_request' });
  const signedBody = await send(url, merchant, { method: 'DELETE', body: '{}' });
  expectError(signedBody, path, { status: 401, code: 'authentication_required' });
  const none = await send(url, merchant, { method: 'DELETE' });
  expectError(none, path, { status: 404, code: 'resource_not_found' });
});

test('an Idempotency-Key is 1 to 128 printable ASCII characters (B10)', async () => {
  const path = '/api/v1/payout-batches';
  const item = { network: 'erc20', address: 'a', amount: '1.00' };
  const body = JSON.stringify({ currency: 'USDT', items: [item] });
  const create = (key: string) =>
    send(`${service.baseUrl}${path}`, merchant, { body, headers: { 'idempotency-key': key } });
  for (const key of ['x', 'y'.repeat(128), 'order 17 / a', '~!@#$%^&*()_+{}|:"<>?', randomUUID()]) {
    expect([key, (await create(key)).status]).toEqual([key, 200]);
  }
  for (const key of ['', ' ', 'z'.repeat(129), 'ordér', 'a\tb', 'x'.repeat(5_000), '\u00a0']) {
    expectError(await create(key), path, { status: 400, code: 'invalid_request' });
  }
});
