import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send, signedHeaders } from '../signed-request.ts';
import { expectError, isPayoutPath } from './expect-error.ts';
import { serveWith } from './http-server.ts';
import { exchange, requestText, type WireAnswer } from './raw-socket.ts';

const BALANCES = '/api/v1/balances';
const BATCHES = '/api/v1/payout-batches';
const FUND = '/api/v1/test_helpers/fund';
const FUNDING = '{"currency":"USDT","network":"erc20","amount":1}';
const MEBIBYTE = 1_048_576;

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

type Lines = [name: string, value: string][];
const signed = (body?: string): Lines =>
  Object.entries(signedHeaders(merchant, body === undefined ? {} : { body }));
const head = (line: string, more: Lines) => requestText(`${line} HTTP/1.1`, more);
const codeOf413 = (path: string) => (isPayoutPath(path) ? 'invalid_request' : 'body_too_large');

test('D4: a body of 1 MiB is taken, one byte more is 413', async () => {
  const batch = '{"currency":"USDT","items":[{"network":"erc20","address":"a","amount":"1.00"}]}';
  const of = (bytes: number) => batch.padEnd(bytes);
  const create = (body: string) =>
    send(`${service.baseUrl}${BATCHES}`, merchant, { body, headers: { 'idempotency-key': randomUUID() } });
  expect((await create(of(MEBIBYTE))).json.status).toBe('draft');
  expectError(await create(of(MEBIBYTE + 1)), BATCHES, { status: 413, code: 'invalid_request' });
});

test('D4: a body announced as too large is 413 at once and the connection closes, whatever comes', async () => {
  for (const bytes of [MEBIBYTE + 1, 10 * MEBIBYTE, 1_073_741_824, Number.MAX_SAFE_INTEGER]) {
    for (const path of [FUND, BATCHES, '/api/v1/nothing', `${BATCHES}/a/b`]) {
      const request = head(`POST ${path}`, [...signed('x'), ['Content-Length', String(bytes)]]);
      const { answers, closed } = await exchange(service.baseUrl, request);
      expectError(answers[0] as WireAnswer, path, { status: 413, code: codeOf413(path) });
      expect({ count: answers.length, closed }).toEqual({ count: 1, closed: true });
    }
  }
});

test('D4: of 10 MB on their way little more than the limit is read', async () => {
  const megabyte = Buffer.alloc(MEBIBYTE, ' ');
  const announced = head(`POST ${FUND}`, [...signed('x'), ['Content-Length', String(10 * MEBIBYTE)]]);
  const { answers, closed, poured } = await exchange(service.baseUrl, announced, { pour: megabyte });
  expect(closed).toBe(true);
  if (answers[0] !== undefined) expectError(answers[0], FUND, { status: 413, code: 'body_too_large' });
  expect(poured).toBeLessThan(10 * MEBIBYTE);
});

test('D4, fault 28: an endless chunked body is 413 when it is too large, and the connection closes', async () => {
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, ' '), Buffer.from('\r\n')]);
  for (const path of [FUND, BATCHES]) {
    const request = head(`POST ${path}`, [...signed('x'), ['Transfer-Encoding', 'chunked']]);
    const { answers, closed, poured } = await exchange(service.baseUrl, request, { pour: chunk });
    expect(closed).toBe(true);
    if (answers[0] !== undefined) expectError(answers[0], path, { status: 413, code: codeOf413(path) });
    expect(poured).toBeLessThan(32 * MEBIBYTE);
  }
});

test('D4: the endless body of a read is not waited for, on calls and on pages', async () => {
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, ' '), Buffer.from('\r\n')]);
  for (const path of [BALANCES, BATCHES, '/api/v1/nothing', '/healthz']) {
    for (const line of [`GET ${path}`, `HEAD ${path}`]) {
      const request = head(line, [...signed(), ['Transfer-Encoding', 'chunked']]);
      const { closed } = await exchange(service.baseUrl, request, { pour: chunk, timeoutMs: 3_000 });
      expect([line, closed]).toEqual([line, true]);
    }
  }
});

test('a chunked body of the right size is a body like any other', async () => {
  const body = [...FUNDING].map((letter) => `1\r\n${letter}\r\n`).join('');
  const request = head(`POST ${FUND}`, [...signed(FUNDING), ['Transfer-Encoding', 'chunked']]);
  const { answers } = await exchange(service.baseUrl, `${request}${body}0\r\n\r\n`, { answers: 1 });
  expect(answers[0]?.status).toBe(200);
});

test('D7: headers that do not come in time are 408', async () => {
  const slow = await serveWith(service, { timeouts: { headersMs: 300, bodyMs: 300 } });
  try {
    for (const begin of [
      'G',
      `GET ${BALANCES} HTTP/1.1\r\n`,
      `GET ${BALANCES} HTTP/1.1\r\nHost: florin.test\r\nX-A`,
    ]) {
      const { answers, closed } = await exchange(slow.baseUrl, begin);
      expectError(answers[0] as WireAnswer, BALANCES, { status: 408, code: 'request_timeout' });
      expect(closed).toBe(true);
    }
  } finally {
    await slow.close();
  }
});

test('D7: a body that does not come in time is 408 in the format of its path, and did nothing', async () => {
  const slow = await serveWith(service, { timeouts: { headersMs: 300, bodyMs: 300 } });
  try {
    const before = await send(`${service.baseUrl}${BALANCES}`, merchant);
    for (const path of [FUND, BATCHES]) {
      for (const [lines, begin] of [
        [[['Content-Length', String(FUNDING.length)]], ''],
        [[['Content-Length', String(FUNDING.length)]], FUNDING.slice(0, -1)],
        [[['Transfer-Encoding', 'chunked']], ''],
        [[['Transfer-Encoding', 'chunked']], `${FUNDING.length.toString(16)}\r\n${FUNDING}\r\n`],
      ] satisfies [Lines, string][]) {
        const request = head(`POST ${path}`, [...signed(FUNDING), ...lines]);
        const { answers, closed } = await exchange(slow.baseUrl, `${request}${begin}`);
        const code = isPayoutPath(path) ? 'invalid_request' : 'request_timeout';
        expectError(answers[0] as WireAnswer, path, { status: 408, code });
        expect({ count: answers.length, closed }).toEqual({ count: 1, closed: true });
      }
    }
    expect((await send(`${service.baseUrl}${BALANCES}`, merchant)).json).toEqual(before.json);
  } finally {
    await slow.close();
  }
});

test('D7: many slow clients do not hold up others', async () => {
  const slow = await serveWith(service, { timeouts: { headersMs: 8_000, bodyMs: 8_000 } });
  try {
    const begin = head(`POST ${FUND}`, [...signed(FUNDING), ['Content-Length', '1000']]);
    const clients = Array.from({ length: scaled(5_000, 100) }, (_, at) =>
      exchange(slow.baseUrl, at % 2 === 0 ? begin : begin.slice(0, 40), { timeoutMs: 30_000 }),
    );
    let finished = 0;
    const all = Promise.all(clients.map((client) => client.then(() => finished++)));
    for (let n = 0; n < 10; n++) {
      expect((await send(`${slow.baseUrl}${BALANCES}`, merchant)).status).toBe(200);
    }
    expect(finished).toBe(0);
    await all;
    const answers = (await Promise.all(clients)).map((seen) => seen.answers[0]?.status);
    expect(new Set(answers)).toEqual(new Set([408]));
  } finally {
    await slow.close();
  }
}, 120_000);

test('a client that leaves in the middle of its body leaves nothing behind', async () => {
  const before = await send(`${service.baseUrl}${BALANCES}`, merchant);
  const begin = head(`POST ${FUND}`, [...signed(FUNDING), ['Content-Length', String(FUNDING.length)]]);
  for (let n = 0; n < 20; n++)
    await exchange(service.baseUrl, `${begin}${FUNDING.slice(0, n)}`, { timeoutMs: 1 });
  expect((await send(`${service.baseUrl}${BALANCES}`, merchant)).json).toEqual(before.json);
});

test('429 says in both formats when to come back, and then the key is served again', async () => {
  const node = await service.addNode({ rate: { perSecond: 0.2, burst: 3 } });
  const call = (path: string, sender: TestMerchant) => send(`${node}${path}`, sender);
  for (const path of [BALANCES, BATCHES]) {
    const sender = await service.createMerchant({ funds: 0n });
    const sister = await service.addStore(sender);
    for (let n = 0; n < 3; n++) expect((await call(path, sender)).status).toBe(200);
    const refused = await call(path, sender);
    const code = isPayoutPath(path) ? 'rate_limited' : 'RATE_LIMIT_EXCEEDED';
    expectError(refused, path, { status: 429, code });
    expect(refused.headers.get('retry-after')).toMatch(/^[1-5]$/);
    expect((await call(path, sister)).status).toBe(200);
    await expect.poll(async () => (await call(path, sender)).status, { interval: 250 }).toBe(200);
  }
});

test('a request that fails authentication takes nothing from the bucket of its key', async () => {
  const node = await service.addNode({ rate: { perSecond: 0.001, burst: 1 } });
  const sender = await service.createMerchant({ funds: 0n });
  for (let n = 0; n < 5; n++) {
    expect((await send(`${node}${BALANCES}`, { ...sender, secretKey: 'wrong' })).status).toBe(401);
  }
  expect((await send(`${node}${BALANCES}`, sender)).status).toBe(200);
  expect((await send(`${node}${BALANCES}`, sender)).status).toBe(429);
});
