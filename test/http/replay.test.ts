import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteOldNonces } from '../../packages/server/src/stores/keys/index.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Answer, send, signedHeaders } from '../signed-request.ts';
import { expectError } from './expect-error.ts';
import { query } from './rows.ts';

const BALANCES = '/api/v1/balances';
const BATCHES = '/api/v1/payout-batches';
const FUND = '/api/v1/test_helpers/fund';
const FUNDING = '{"currency":"USDT","network":"erc20","amount":1000000}';

let service: TestService;
let merchant: TestMerchant;
let second: string;

beforeAll(async () => {
  service = await startService({ lockTimeoutMs: 300 });
  second = await service.addNode();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

interface Captured {
  headers: Record<string, string>;
  body: string | undefined;
}
/** A request as somebody on the way sees it; nothing of it can be signed anew. */
const capture = (body?: string, headers: Record<string, string> = {}): Captured => ({
  headers: signedHeaders(merchant, { ...(body === undefined ? {} : { body }), headers }),
  body,
});

async function play(
  captured: Captured,
  path: string,
  { method = captured.body === undefined ? 'GET' : 'POST', node = service.baseUrl } = {},
): Promise<Answer> {
  const { headers, body } = captured;
  const response = await fetch(`${node}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

const available = async () => (await merchant.sdk.balances.retrieve()).data[0]?.available ?? 0;

async function createDraft(): Promise<string> {
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const item = { network: 'erc20', address: erc20.succeed, amount: '1.00' } as const;
  return (await merchant.sdk.payouts.create({ currency: 'USDT', items: [item] })).batch_id;
}

function expectReplayRefused(answer: Answer, path: string): void {
  const code = path.startsWith(BATCHES) ? 'authentication_required' : 'invalid_api_key';
  expectError(answer, path, { status: 401, code });
}

test('A2: a request is taken once on its node', async () => {
  const captured = capture(FUNDING);
  const before = await available();
  expect((await play(captured, FUND)).status).toBe(200);
  for (let again = 0; again < 3; again++) expectReplayRefused(await play(captured, FUND), FUND);
  expect(await available()).toBe(before + 1_000_000);
});

test('A2, fault 21: a request taken by one node is refused by another', async () => {
  for (const [first, then] of [
    [service.baseUrl, second],
    [second, service.baseUrl],
  ] as const) {
    const captured = capture();
    expect((await play(captured, BALANCES, { node: first })).status).toBe(200);
    expectReplayRefused(await play(captured, BALANCES, { node: then }), BALANCES);
  }
});

test('A2: a node that starts later refuses what was taken before it', async () => {
  const read = capture();
  const write = capture(FUNDING);
  await play(read, BALANCES);
  await play(write, FUND);
  const node = await service.addNode();
  expectReplayRefused(await play(read, BALANCES, { node }), BALANCES);
  expectReplayRefused(await play(write, FUND, { node }), FUND);
});

test('A2: of copies sent at once to two nodes exactly one is taken', async () => {
  for (let round = 0; round < scaled(100, 5); round++) {
    const captured = capture(FUNDING);
    const before = await available();
    const copies = Array.from({ length: 20 }, (_, at) =>
      play(captured, FUND, { node: at % 2 === 0 ? second : service.baseUrl }),
    );
    const statuses = (await Promise.all(copies)).map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array<number>(19).fill(401)]);
    expect(await available()).toBe(before + 1_000_000);
  }
});

test('A2: a nonce is spent for its key whatever is signed with it next, and for no other key', async () => {
  const nonce = randomUUID();
  expect((await send(`${service.baseUrl}${BALANCES}`, merchant, { nonce })).status).toBe(200);
  const signedAnew = await send(`${service.baseUrl}${FUND}`, merchant, { nonce, body: FUNDING });
  expectReplayRefused(signedAnew, FUND);
  const other = await service.addStore(merchant);
  expect((await send(`${service.baseUrl}${BALANCES}`, other, { nonce })).status).toBe(200);
});

test('A2, fault 22: after many fresh nonces the first is still refused', async () => {
  const captured = capture();
  expect((await play(captured, BALANCES)).status).toBe(200);
  const count = scaled(200_000, 300);
  for (let sent = 0; sent < count; sent += 20) {
    await Promise.all(Array.from({ length: 20 }, () => play(capture(), BALANCES)));
  }
  expectReplayRefused(await play(captured, BALANCES), BALANCES);
}, 3_600_000);

test('A2: a nonce is kept for 660 s, and then forgotten', async () => {
  const captured = capture();
  const nonce = captured.headers['x-service-nonce'];
  await play(captured, BALANCES);
  const count = async () => (await query(service, 'select 1 from nonce where nonce = $1', [nonce])).length;
  for (const [ageSeconds, left] of [
    [655, 1],
    [665, 0],
  ] as const) {
    const spentAtMs = service.app.clock.nowMs() - ageSeconds * 1000;
    await query(service, 'update nonce set spent_at_ms = $1 where nonce = $2', [spentAtMs, nonce]);
    await deleteOldNonces(service.app);
    expect(await count()).toBe(left);
  }
});

test('A2, fault 23: a nonce that cannot be recorded is 503 on every path, and never 200', async () => {
  const before = await available();
  await query(service, 'alter table nonce rename to nonce_away');
  const captured = capture(FUNDING);
  try {
    for (const path of [BALANCES, FUND, BATCHES, '/api/v1/nothing', `${BATCHES}/nothing/here`]) {
      const answer = await play(path === FUND ? captured : capture(), path);
      expectError(answer, path, { status: 503, code: 'service_unavailable' });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
  } finally {
    await query(service, 'alter table nonce_away rename to nonce');
  }
  expect(await available()).toBe(before);
  expect((await play(captured, FUND)).status).toBe(200);
});

test('A2: a locked nonce store is 503 after the wait for locks', async () => {
  const holder = new pg.Client({ connectionString: service.app.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin; lock table nonce in access exclusive mode');
    const answer = await play(capture(), BALANCES);
    expectError(answer, BALANCES, { status: 503, code: 'service_unavailable' });
  } finally {
    await holder.end();
  }
  expect((await play(capture(), BALANCES)).status).toBe(200);
});

test('A3: a captured read sent as a cancel is refused, on any node', async () => {
  const batch = await createDraft();
  const captured = capture();
  expect((await play(captured, `${BATCHES}/${batch}`)).status).toBe(200);
  for (const node of [service.baseUrl, second]) {
    const path = `${BATCHES}/${batch}/cancel`;
    expectReplayRefused(await play(captured, path, { method: 'POST', node }), path);
  }
  expect((await merchant.sdk.payouts.retrieve(batch)).status).toBe('draft');
});

test('A3, fault 21: a captured create sent to another path, query or with another key is refused', async () => {
  const body = JSON.stringify({ currency: 'USDT', items: [] });
  const captured = capture(body, { 'idempotency-key': 'first' });
  expect((await play(captured, BATCHES)).status).toBe(400);
  expectReplayRefused(await play(captured, FUND), FUND);
  const renamed = { ...captured, headers: { ...captured.headers, 'idempotency-key': 'second' } };
  expectReplayRefused(await play(renamed, BATCHES), BATCHES);
  const read = capture();
  expect((await play(read, `${BATCHES}?limit=1`)).status).toBe(200);
  expectReplayRefused(await play(read, `${BATCHES}?limit=2`), BATCHES);
  expectReplayRefused(await play(read, BALANCES), BALANCES);
  expectReplayRefused(await play(read, BALANCES, { method: 'DELETE' }), BALANCES);
});

test('A3: the residual: who holds back the first use can send it elsewhere, so TLS ends in the service', async () => {
  const batch = await createDraft();
  const heldBack = capture();
  const redirected = await play(heldBack, `${BATCHES}/${batch}/cancel`, { method: 'POST' });
  expect(redirected.json.status).toBe('canceled');
  expectReplayRefused(await play(heldBack, `${BATCHES}/${batch}`), BATCHES);
});

test('A4: a body that moved into the nonce, or out of it, is never one JSON object', async () => {
  const body = '{"currency":"USDT","items":[{"network":"erc20","address":"a","amount":"1.00"}]}';
  const moved: [nonce: string, body: string, toNonce: string, toBody: string][] = [
    ['abcdefghijklmnop', '{"v":1.{}}', 'abcdefghijklmnop.{"v":1', '{}}'],
    ['abcdefghijklmnoq', `x.${body}`, 'abcdefghijklmnoq.x', body],
    [`abcdefghijklmnor.{}`, '', 'abcdefghijklmnor', '{}.'],
    [`abcdefghijklmnos.{"a":1}`, body, 'abcdefghijklmnos', `{"a":1}.${body}`],
    ['abcdefghijklmnot', '{"d":".{}"}', 'abcdefghijklmnot.{"d":"', '{}"}'],
  ];
  for (const [nonce, signedBody, toNonce, toBody] of moved) {
    const { headers } = { headers: signedHeaders(merchant, { nonce, body: signedBody }) };
    const shifted = { ...headers, 'x-service-nonce': toNonce, 'idempotency-key': randomUUID() };
    const answer = await play({ headers: shifted, body: toBody }, BATCHES);
    // The second line is none that a client of ours would send first: its body is no JSON object.
    if (toBody === body) expect(answer.status).toBe(200);
    else expectError(answer, BATCHES, { status: 400, code: 'invalid_request' });
  }
});
