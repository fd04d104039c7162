import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ConflictError, ConnectionError, Florin, InvalidRequestError, usdc, usdt } from './index.ts';
import { API_KEY, expectedSignature, payoutError, SECRET_KEY, startPeer } from './test-peer.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const item = { network: 'erc20', address: '0x1', amount: '12.50' } as const;
const list = (data: object[], more = false) => ({ json: { object: 'list', data, has_more: more, url: '/' } });

describe('what goes over the wire', () => {
  test('the signature covers exactly the bytes that came, beyond ASCII too', async () => {
    await using peer = await startPeer({ json: { batch_id: 'pb_1' } });
    await peer.client().payouts.create({ currency: 'USDT', description: 'Löhne 東京 🦊', items: [item] });

    const [request] = peer.received;
    if (request === undefined) throw new Error('nothing came');
    expect(request.method).toBe('POST');
    expect(request.url).toBe('/api/v1/payout-batches');
    expect(request.headers['x-service-signature']).toBe(expectedSignature(request));
    expect(request.headers.authorization).toBe(`Bearer ${API_KEY}`);
    expect(request.headers['content-type']).toBe('application/json');
    expect(request.headers['x-service-version']).toBe('2026-04-20');
    expect(request.headers['x-service-nonce']).toMatch(UUID);
    expect(request.headers['idempotency-key']).toMatch(UUID);
    expect(Math.abs(Number(request.headers['x-service-timestamp']) - Date.now() / 1000)).toBeLessThan(5);
    expect(JSON.parse(request.body.toString())).toEqual({
      currency: 'USDT',
      description: 'Löhne 東京 🦊',
      items: [item],
    });
  });

  test('the secret key is never sent and never printed', async () => {
    await using peer = await startPeer({ json: { object: 'balances', data: [] } });
    const client = peer.client();
    await client.balances.retrieve();
    expect(JSON.stringify(peer.received)).not.toContain(SECRET_KEY);
    expect(inspect(client, { depth: 9, showHidden: true })).not.toMatch(
      new RegExp(`${SECRET_KEY}|${API_KEY}`),
    );
  });

  test('a GET has no body, no Content-Type and a signature over the empty text', async () => {
    await using peer = await startPeer({ json: { object: 'balances', data: [] } });
    expect(await peer.client().balances.retrieve()).toEqual({ object: 'balances', data: [] });
    const [request] = peer.received;
    if (request === undefined) throw new Error('nothing came');
    expect([request.method, request.url, request.body.length]).toEqual(['GET', '/api/v1/balances', 0]);
    expect(request.headers['content-type']).toBeUndefined();
    expect(request.headers['x-service-signature']).toBe(expectedSignature(request));
  });

  test('every call has its method and path', async () => {
    const steps = Array.from({ length: 13 }, () => list([]));
    await using peer = await startPeer(...steps);
    const { payouts, balances, ledgerEntries, testHelpers } = peer.client();
    await payouts.retrieve('pb_1');
    await payouts.list({ status: 'draft', idempotency_key: 'a b&c', limit: 5 }).page();
    await payouts.submit('pb_1');
    await payouts.cancel('pb_1');
    await payouts.items('pb_1', { status: 'failed' }).page();
    await payouts.item('pb_1', 'pbi_1');
    await payouts.updateItem('pb_1', 'pbi_1', item);
    await payouts.deleteItem('pb_1', 'pbi_1');
    await balances.retrieve();
    await ledgerEntries.list({ account: 'custody:erc20' }).page();
    await testHelpers.fund({ currency: 'USDT', network: 'erc20', amount: usdt('1000.5') });
    await testHelpers.addresses();
    await testHelpers.transfers('erc20', '0xabc').page();

    expect(
      peer.received.map(({ method, url, body }) => `${method} ${url} ${body.toString()}`.trim()),
    ).toEqual([
      'GET /api/v1/payout-batches/pb_1',
      'GET /api/v1/payout-batches?status=draft&idempotency_key=a+b%26c&limit=5',
      'POST /api/v1/payout-batches/pb_1/submit {}',
      'POST /api/v1/payout-batches/pb_1/cancel {}',
      'GET /api/v1/payout-batches/pb_1/items?status=failed',
      'GET /api/v1/payout-batches/pb_1/items/pbi_1',
      `PUT /api/v1/payout-batches/pb_1/items/pbi_1 ${JSON.stringify(item)}`,
      'DELETE /api/v1/payout-batches/pb_1/items/pbi_1',
      'GET /api/v1/balances',
      'GET /api/v1/ledger_entries?account=custody%3Aerc20',
      'POST /api/v1/test_helpers/fund {"currency":"USDT","network":"erc20","amount":1000500000}',
      'GET /api/v1/test_helpers/addresses',
      'GET /api/v1/test_helpers/chains/erc20/transfers?address=0xabc',
    ]);
    expect(new Set(peer.received.map(({ headers }) => headers['x-service-nonce'])).size).toBe(13);
    for (const request of peer.received) {
      expect(request.headers['x-service-signature']).toBe(expectedSignature(request));
    }
  });

  test('a base address with a path and a slash at the end keeps its path', async () => {
    await using peer = await startPeer({});
    await peer.client({ baseUrl: `${peer.url}/pay/` }).balances.retrieve();
    expect(peer.received[0]?.url).toBe('/pay/api/v1/balances');
  });

  test('an id cannot lead to another path', async () => {
    await using peer = await startPeer({});
    const { payouts } = peer.client();
    for (const id of ['', '.', '..']) await expect(payouts.retrieve(id)).rejects.toThrow(TypeError);
    await payouts.retrieve('../balances?x=1');
    expect(peer.received.map(({ url }) => url)).toEqual(['/api/v1/payout-batches/..%2Fbalances%3Fx%3D1']);
  });
});

describe('amounts are bigint or text', () => {
  test('both forms reach the service as decimal strings', async () => {
    await using peer = await startPeer({});
    const items = [{ ...item, amount: 1_500_000n }, { ...item, amount: usdc('0.1') }, item];
    await peer.client().payouts.create({ currency: 'USDC', items });
    const sent = JSON.parse(String(peer.received[0]?.body));
    expect(sent.items.map((each: { amount: string }) => each.amount)).toEqual(['1.50', '0.10', '12.50']);
  });

  test('a number, a part of a cent and an unsafe sum never leave', async () => {
    await using peer = await startPeer();
    const { payouts, testHelpers } = peer.client();
    const create = (amount: unknown) =>
      payouts.create({ currency: 'USDT', items: [{ ...item, amount: amount as string }] });
    await expect(create(12.5)).rejects.toThrow(TypeError);
    await expect(create(15_001n)).rejects.toThrow(RangeError);
    const unsafe = testHelpers.fund({ currency: 'USDT', network: 'spl', amount: 2n ** 53n });
    await expect(unsafe).rejects.toThrow(RangeError);
    expect(() => usdt('1.2345678')).toThrow(RangeError);
    expect(peer.received).toEqual([]);
  });
});

describe('lists', () => {
  const batches = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ batch_id: `pb_${from + at}` }));

  test('for await reads page after page, asks for full pages and keeps the filter', async () => {
    await using peer = await startPeer(
      list(batches(1, 2), true),
      list(batches(3, 2), true),
      list(batches(5, 1)),
    );
    const seen: string[] = [];
    for await (const batch of peer.client().payouts.list({ status: 'completed' })) seen.push(batch.batch_id);
    expect(seen).toEqual(['pb_1', 'pb_2', 'pb_3', 'pb_4', 'pb_5']);
    const path = '/api/v1/payout-batches?limit=100&status=completed';
    expect(peer.received.map(({ url }) => url)).toEqual([
      path,
      `${path}&starting_after=pb_2`,
      `${path}&starting_after=pb_4`,
    ]);
  });

  test('stops reading when the caller stops, and ends on an empty page whatever it claims', async () => {
    await using peer = await startPeer(list(batches(1, 2), true), list([], true));
    const { payouts } = peer.client();
    for await (const batch of payouts.list()) if (batch.batch_id === 'pb_1') break;
    expect(peer.received).toHaveLength(1);
    for await (const batch of payouts.list()) throw new Error(`unexpected ${batch.batch_id}`);
    expect(peer.received).toHaveLength(2);
  });

  test('page() is one request with the given filter', async () => {
    await using peer = await startPeer(list(batches(1, 1), true));
    const page = await peer.client().payouts.list({ limit: 1, starting_after: 'pb_0' }).page();
    expect(page.has_more).toBe(true);
    expect(peer.received.map(({ url }) => url)).toEqual([
      '/api/v1/payout-batches?limit=1&starting_after=pb_0',
    ]);
  });

  test('csv() is everything that fits the filter, as it arrives', async () => {
    const text = 'id\r\npay_1\r\n# 1 rows\r\n';
    await using peer = await startPeer((response) => {
      response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8; header=present' }).end(text);
    });
    const created = { gte: 1, lt: 2 };
    const pieces: Uint8Array[] = [];
    for await (const piece of peer.client().payments.list({ limit: 5, order_id: 'A-1', created }).csv())
      pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe(text);
    const [request] = peer.received;
    expect(request?.url).toBe('/api/v1/payments?order_id=A-1&created%5Bgte%5D=1&created%5Blt%5D=2');
    expect(request?.headers.accept).toBe('text/csv');
  });

  test('csv() throws where the file breaks off, and for what is no file', async () => {
    await using peer = await startPeer(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/csv' }).write('id\r\n', () => response.destroy());
      },
      { json: { object: 'list' } },
    );
    const read = async () => {
      for await (const piece of peer.client().refunds.list().csv()) void piece;
    };
    await expect(read()).rejects.toThrow(ConnectionError);
    await expect(read()).rejects.toThrow(/not text\/csv/);
  });
});

test('options that could never work are refused at once', () => {
  const good = { baseUrl: 'https://pay.example', apiKey: 'key', secretKey: 'secret' };
  expect(new Florin(good)).toBeInstanceOf(Florin);
  for (const baseUrl of [
    'http://localhost:4000',
    'http://127.0.0.1',
    'http://[::1]:80',
    'http://api.localhost',
  ]) {
    expect(new Florin({ ...good, baseUrl })).toBeInstanceOf(Florin);
  }
  for (const baseUrl of [
    '',
    'pay.example',
    'http://pay.example',
    'http://127.evil.example',
    'ftp://localhost',
    'https://a@b.example',
    'https://b.example?x=1',
  ]) {
    expect(() => new Florin({ ...good, baseUrl })).toThrow(TypeError);
  }
  expect(() => new Florin({ ...good, apiKey: '' })).toThrow('apiKey is missing');
  expect(() => new Florin({ ...good, secretKey: 'with space' })).toThrow('secretKey is missing');
});

test('an error of the service is thrown once and not repeated', async () => {
  await using peer = await startPeer(payoutError(409, 'conflict'), payoutError(400, 'batch_amount_too_low'));
  const { payouts } = peer.client();
  await expect(payouts.create({ currency: 'USDT', items: [item] })).rejects.toThrow(ConflictError);
  await expect(payouts.create({ currency: 'USDT', items: [item] })).rejects.toThrow(InvalidRequestError);
  expect(peer.received).toHaveLength(2);
});

test('the version it names is the one of its package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  await using peer = await startPeer({});
  await peer.client().balances.retrieve();
  expect(peer.received[0]?.headers['user-agent']).toBe(`florin-sdk/${version} node/${process.versions.node}`);
});
