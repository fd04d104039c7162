import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BodyBudget } from '../../packages/server/src/platform/http/body.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send, signedHeaders } from '../signed-request.ts';
import { expectError } from './expect-error.ts';
import { serveWith } from './http-server.ts';
import { exchange, requestText, type WireAnswer } from './raw-socket.ts';

const MIB = 1_048_576;
const FUND = '/api/v1/test_helpers/fund';
const BALANCES = '/api/v1/balances';
const BODY = JSON.stringify({ currency: 'USDT', network: 'erc20', amount: 1, x: 'x'.repeat(MIB - 200) });

let service: TestService;
let merchant: TestMerchant;
const lines: string[] = [];
const budget = new BodyBudget(2.5 * MIB);
let server: Awaited<ReturnType<typeof serveWith>>;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant();
  const log = createLogger('debug', { write: (line) => lines.push(line) });
  server = await serveWith(service, { bodyBudget: budget, log });
});
afterAll(async () => {
  await server?.close();
  await service?.stop();
});

/** The head of a signed upload of `BODY`. */
function head(changed: Record<string, string> = {}): string {
  const headers = {
    ...signedHeaders(merchant, { body: BODY }),
    'content-length': String(BODY.length),
    ...changed,
  };
  return requestText(`POST ${FUND} HTTP/1.1`, Object.entries(headers));
}

/** A connection that sent so much of an upload, and reads nothing yet. */
async function upload(bytes: string): Promise<Socket> {
  const socket = connect(Number(new URL(server.baseUrl).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  await new Promise((resolve) => socket.write(bytes, resolve));
  return socket;
}

const UNKNOWN = { authorization: 'Bearer fl_test_2zmUdnxBgTMSbFsk5DGh3j2eGGeUxpTe4j2LrUfvy8mQ' };

test('an upload counts while it comes and while it is answered, and no longer', async () => {
  const socket = await upload(head() + BODY.slice(0, -1));
  await expect.poll(() => budget.held, { timeout: 60_000 }).toBeGreaterThan(MIB / 2);
  socket.write(BODY.slice(-1));
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
  await expect.poll(() => budget.held).toBe(0);
});

test('what finds no room is 503 with Retry-After, and the next one is served', async () => {
  const slow = [await upload(head() + BODY.slice(0, -1)), await upload(head() + BODY.slice(0, -1))];
  await expect.poll(() => budget.held, { timeout: 60_000 }).toBeGreaterThan(1.5 * MIB);
  const { answers } = await exchange(server.baseUrl, head() + BODY, { answers: 1 });
  expectError(answers[0] as WireAnswer, FUND, { status: 503, code: 'service_unavailable' });
  expect(answers[0]?.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect((await send(`${server.baseUrl}${BALANCES}`, merchant)).status).toBe(200);
  for (const socket of slow) socket.destroy();
  await expect.poll(() => budget.held, { timeout: 60_000 }).toBe(0);
  const after = await exchange(server.baseUrl, head() + BODY, { answers: 1 });
  expectError(after.answers[0] as WireAnswer, FUND, { status: 400, code: 'invalid_request_error' });
});

const NOT_KEPT: [what: string, changed: Record<string, string>][] = [
  ['an unknown key', UNKNOWN],
  ['no key', { authorization: '' }],
  ['a signature that is none', { 'x-service-signature': 'abc' }],
  ['a nonce that is too short', { 'x-service-nonce': 'abc' }],
  ['a timestamp that is none', { 'x-service-timestamp': 'now' }],
];
test.each(NOT_KEPT)(
  'a body with %s is read past: nothing is kept, and the answer is the usual 401',
  async (_what, changed) => {
    const socket = await upload(head(changed) + BODY.slice(0, -1));
    let held = 0;
    for (let n = 0; n < 20; n++) {
      held = Math.max(held, budget.held);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(held).toBe(0);
    socket.destroy();
    const { answers } = await exchange(server.baseUrl, head(changed) + BODY, {
      answers: 1,
      timeoutMs: 20_000,
    });
    expectError(answers[0] as WireAnswer, FUND, { status: 401, code: 'invalid_api_key' });
  },
);

test('size is checked first, for every caller', async () => {
  for (const changed of [{}, UNKNOWN]) {
    const long = head({ ...changed, 'content-length': String(MIB + 1) });
    const { answers } = await exchange(server.baseUrl, long, { answers: 1 });
    expectError(answers[0] as WireAnswer, FUND, { status: 413, code: 'body_too_large' });
  }
});

test('a body in a hundred thousand pieces takes the room of its bytes', async () => {
  const body = JSON.stringify({ currency: 'USDT', network: 'erc20', amount: 1, x: 'x'.repeat(100_000) });
  const headers = { ...signedHeaders(merchant, { body }), 'transfer-encoding': 'chunked' };
  const pieces = [...body].map((letter) => `1\r\n${letter}\r\n`).join('');
  const request = requestText(`POST ${FUND} HTTP/1.1`, Object.entries(headers));
  const socket = await upload(request + pieces);
  await expect.poll(() => budget.held, { timeout: 20_000 }).toBeGreaterThan(100_000);
  expect(budget.held).toBeLessThan(300_000);
  socket.write('0\r\n\r\n');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
});

test('an upload that breaks off is no error of ours, and a caller who is gone leaves nothing behind', async () => {
  lines.length = 0;
  const partly = BODY.slice(0, -1);
  for (const begin of [
    head() + partly,
    head(UNKNOWN) + partly,
    head(),
    ...Array<string>(20).fill(head() + BODY),
  ]) {
    const socket = await upload(begin);
    socket.resetAndDestroy();
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  await expect.poll(() => budget.held, { timeout: 20_000 }).toBe(0);
  expect((await send(`${server.baseUrl}${BALANCES}`, merchant)).status).toBe(200);
  expect(lines.filter((line) => !line.includes('"level":"info"'))).toEqual([]);
  expect(lines.join('')).toContain('"status":200');
});
