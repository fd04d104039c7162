import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  ConnectionError,
  FlorinError,
  RateLimitError,
  ServiceUnavailableError,
  TimeoutError,
} from './index.ts';
import { pauseMs } from './retry.ts';
import {
  cutOff,
  expectedSignature,
  neverAnswers,
  type Peer,
  payoutError,
  type Step,
  startPeer,
} from './test-peer.ts';

const input = {
  currency: 'USDT',
  items: [{ network: 'erc20', address: '0x1', amount: '1.00' }],
} as const;
const batch = (status: string): Step => ({ json: { batch_id: 'pb_1', status } });
const batches = (...data: object[]): Step => ({ json: { object: 'list', data, has_more: false, url: '/' } });
const balances: Step = { json: { object: 'balances', data: [] } };
const busy = payoutError(503, 'service_unavailable', { 'retry-after': '0' });

const calls = (peer: Peer) =>
  peer.received.map(
    ({ method, url }) => `${method} ${url.replace('/api/v1', '').replace(/key=[^&]+/, 'key=KEY')}`,
  );
const LOOK = 'GET /payout-batches?idempotency_key=KEY&limit=1';

describe('reads', () => {
  test.each<[string, Step]>([
    ['503', busy],
    ['500', payoutError(500, 'payout_error')],
    ['a gateway without JSON', (response) => void response.writeHead(502).end('<html>')],
    ['429', payoutError(429, 'rate_limited')],
    ['a reset connection', cutOff],
  ])('are repeated after %s, each attempt signed anew', async (_name, trouble) => {
    await using peer = await startPeer(trouble, trouble, balances);
    expect(await peer.client().balances.retrieve()).toMatchObject({ object: 'balances' });
    expect(peer.received).toHaveLength(3);
    expect(new Set(peer.received.map(({ headers }) => headers['x-service-nonce'])).size).toBe(3);
    for (const request of peer.received) {
      expect(request.headers['x-service-signature']).toBe(expectedSignature(request));
    }
  });

  test('are tried maxRetries times more and no further', async () => {
    await using peer = await startPeer(...Array.from({ length: 9 }, () => busy));
    await expect(peer.client().balances.retrieve()).rejects.toThrow(ServiceUnavailableError);
    expect(peer.received).toHaveLength(3);
    await expect(peer.client({ maxRetries: 0 }).balances.retrieve()).rejects.toThrow(ServiceUnavailableError);
    expect(peer.received).toHaveLength(4);
  });

  test.each([400, 401, 403, 404, 409, 413])('are not repeated after %d', async (status) => {
    await using peer = await startPeer(payoutError(status, 'invalid_request'));
    await expect(peer.client().balances.retrieve()).rejects.toThrow(FlorinError);
    expect(peer.received).toHaveLength(1);
  });

  test('a redirect is not followed and not repeated', async () => {
    await using peer = await startPeer(
      (response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    await expect(peer.client().balances.retrieve()).rejects.toMatchObject({
      status: 302,
      code: 'unexpected_answer',
    });
    expect(peer.received).toHaveLength(1);
  });

  test('a timeout covers a body that never ends, too', async () => {
    const stalls: Step = (response) => void response.writeHead(200).write('{"object":');
    await using peer = await startPeer(stalls, neverAnswers);
    const client = peer.client({ timeoutMs: 1_000, maxRetries: 1 });
    await expect(client.balances.retrieve()).rejects.toThrow(TimeoutError);
    expect(peer.received).toHaveLength(2);
  });
});

describe('Retry-After', () => {
  test('is waited for', async () => {
    await using peer = await startPeer(payoutError(429, 'rate_limited', { 'retry-after': '1' }), balances);
    const start = performance.now();
    await peer.client().balances.retrieve();
    expect(performance.now() - start).toBeGreaterThanOrEqual(990);
  });

  test('of more than a minute is left to the caller', async () => {
    await using peer = await startPeer(payoutError(429, 'rate_limited', { 'retry-after': '61' }));
    await expect(peer.client().balances.retrieve()).rejects.toMatchObject({ retryAfterSeconds: 61 });
    expect(peer.received).toHaveLength(1);
  });

  test('without it the pause doubles up to a cap and is spread at random', () => {
    const error = new FlorinError({ message: 'busy', code: 'service_unavailable', status: 503 });
    for (const [retry, capMs] of [
      [0, 500],
      [1, 1_000],
      [4, 8_000],
      [30, 8_000],
    ] as const) {
      const pauses = Array.from({ length: 200 }, () => pauseMs(error, retry, 500) ?? -1);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(capMs);
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(capMs / 4);
    }
  });

  test('the daily refund limit is never retried', async () => {
    const error = { type: 'rate_limit_error', code: 'DAILY_REFUND_LIMIT_EXCEEDED', message: 'tomorrow' };
    await using peer = await startPeer({ status: 429, json: { error, request_id: 'r', timestamp: 1 } });
    await expect(peer.client().balances.retrieve()).rejects.toThrow(RateLimitError);
    expect(peer.received).toHaveLength(1);
  });
});

describe('creating a batch that may have happened: the list is read first (spec 7.2)', () => {
  test.each<[string, Step]>([
    ['503', busy],
    ['a reset connection', cutOff],
    ['a timeout', neverAnswers],
  ])('B2: after %s it is there: no second POST', async (_name, trouble) => {
    await using peer = await startPeer(trouble, batches({ batch_id: 'pb_1' }));
    const made = await peer.client({ timeoutMs: 2_000 }).payouts.create(input);
    expect(made.batch_id).toBe('pb_1');
    expect(calls(peer)).toEqual(['POST /payout-batches', LOOK]);
    const [post, look] = peer.received;
    expect(look?.url).toContain(String(post?.headers['idempotency-key']));
  });

  test('B3: it is not there: the same bytes again, under the same key', async () => {
    await using peer = await startPeer(cutOff, batches(), { json: { batch_id: 'pb_2' } });
    expect((await peer.client().payouts.create(input)).batch_id).toBe('pb_2');
    expect(calls(peer)).toEqual(['POST /payout-batches', LOOK, 'POST /payout-batches']);
    const [first, , second] = peer.received;
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect(second?.headers['x-service-nonce']).not.toBe(first?.headers['x-service-nonce']);
  });

  test("B4: under a key of the caller's the service compares the parameters", async () => {
    await using peer = await startPeer(
      busy,
      batches({ batch_id: 'pb_1' }),
      payoutError(409, 'conflict'),
      batches({ batch_id: 'pb_1' }),
    );
    const created = peer.client().payouts.create(input, { idempotencyKey: 'order 7' });
    await expect(created).rejects.toMatchObject({ status: 409, code: 'conflict' });
    expect(calls(peer).slice(0, 3)).toEqual(['POST /payout-batches', LOOK, 'POST /payout-batches']);
    expect(peer.received[0]?.headers['idempotency-key']).toBe('order 7');
  });

  test('no POST follows while the list cannot be read, and the doubt is what is thrown', async () => {
    await using peer = await startPeer(cutOff, busy, payoutError(429, 'rate_limited'));
    await expect(peer.client().payouts.create(input)).rejects.toThrow(ConnectionError);
    expect(calls(peer)).toEqual(['POST /payout-batches', LOOK, LOOK]);
  });

  test('a list that the key may not read leaves the doubt as it is', async () => {
    await using peer = await startPeer(busy, payoutError(403, 'forbidden'), payoutError(403, 'forbidden'));
    await expect(peer.client().payouts.create(input)).rejects.toThrow(ServiceUnavailableError);
    expect(calls(peer)).toEqual(['POST /payout-batches', LOOK, LOOK]);
  });

  test('429 means that nothing happened: repeated without a read', async () => {
    await using peer = await startPeer(payoutError(429, 'rate_limited'), { json: { batch_id: 'pb_1' } });
    await peer.client().payouts.create(input);
    expect(calls(peer)).toEqual(['POST /payout-batches', 'POST /payout-batches']);
  });
});

describe('moving a batch reads it before a second try', () => {
  const SUBMIT = 'POST /payout-batches/pb_1/submit';
  const READ = 'GET /payout-batches/pb_1';

  test.each(['pending', 'pending_approval', 'processing', 'completed', 'failed', 'rejected'])(
    'submitted by now: %s',
    async (status) => {
      await using peer = await startPeer(cutOff, batch(status));
      expect(await peer.client().payouts.submit('pb_1')).toMatchObject({ status });
      expect(calls(peer)).toEqual([SUBMIT, READ]);
    },
  );

  test('still a draft: submitted again', async () => {
    await using peer = await startPeer(busy, batch('draft'), batch('pending'));
    expect(await peer.client().payouts.submit('pb_1')).toMatchObject({ status: 'pending' });
    expect(calls(peer)).toEqual([SUBMIT, READ, SUBMIT]);
  });

  test('the first try landed after the read: its effect is the answer, not the refusal of the second', async () => {
    await using peer = await startPeer(
      cutOff,
      batch('draft'),
      payoutError(400, 'batch_cannot_submit'),
      batch('processing'),
    );
    expect(await peer.client().payouts.submit('pb_1')).toMatchObject({ status: 'processing' });
    expect(calls(peer)).toEqual([SUBMIT, READ, SUBMIT, READ]);
  });

  test('a refusal with its own reason stays one', async () => {
    await using peer = await startPeer(
      cutOff,
      batch('draft'),
      payoutError(400, 'insufficient_balance'),
      batch('draft'),
    );
    await expect(peer.client().payouts.submit('pb_1')).rejects.toMatchObject({
      code: 'insufficient_balance',
    });
  });

  test('a cancel that took effect is not repeated, one that did not is', async () => {
    await using done = await startPeer(cutOff, batch('canceled'));
    expect(await done.client().payouts.cancel('pb_1')).toMatchObject({ status: 'canceled' });
    expect(done.received).toHaveLength(2);
    await using again = await startPeer(cutOff, batch('pending'), batch('canceled'));
    expect(await again.client().payouts.cancel('pb_1')).toMatchObject({ status: 'canceled' });
    expect(again.received).toHaveLength(3);
  });

  test('an item deleted by the first try is not missed by the second', async () => {
    await using peer = await startPeer(cutOff, payoutError(404, 'resource_not_found'), batch('draft'));
    expect(await peer.client().payouts.deleteItem('pb_1', 'pbi_1')).toMatchObject({ batch_id: 'pb_1' });
    expect(calls(peer)).toEqual([
      'DELETE /payout-batches/pb_1/items/pbi_1',
      'GET /payout-batches/pb_1/items/pbi_1',
      READ,
    ]);
  });

  test('an item is read before it is put again', async () => {
    await using peer = await startPeer(
      busy,
      { json: { item_id: 'pbi_1' } },
      { json: { item_id: 'pbi_1', amount: '1.00' } },
    );
    await peer.client().payouts.updateItem('pb_1', 'pbi_1', input.items[0]);
    expect(peer.received.map(({ method }) => method)).toEqual(['PUT', 'GET', 'PUT']);
  });
});

describe('a write without a key', () => {
  const fund = { currency: 'USDT', network: 'erc20', amount: 1_000_000n } as const;

  test.each<[string, Step]>([
    ['503', busy],
    ['a reset connection', cutOff],
  ])('is not repeated after %s', async (_name, trouble) => {
    await using peer = await startPeer(trouble, balances);
    await expect(peer.client().testHelpers.fund(fund)).rejects.toThrow(FlorinError);
    expect(peer.received).toHaveLength(1);
  });

  test('is repeated after 429', async () => {
    await using peer = await startPeer(payoutError(429, 'rate_limited'), balances);
    await peer.client().testHelpers.fund(fund);
    expect(peer.received).toHaveLength(2);
  });

  test('a refused connection never carried it, so it is repeated, and named in the error', async () => {
    const port = await unusedPort();
    let attempts = 0;
    await using peer = await startPeer();
    const client = peer.client({
      baseUrl: `http://127.0.0.1:${port}`,
      fetch: (...request) => {
        attempts++;
        return fetch(...request);
      },
    });
    const funded = client.testHelpers.fund(fund);
    await expect(funded).rejects.toMatchObject({
      name: 'ConnectionError',
      neverSent: true,
      status: undefined,
    });
    await expect(funded).rejects.toThrow('ECONNREFUSED');
    expect(attempts).toBe(3);
  });
});

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
