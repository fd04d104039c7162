import { expect, test } from 'vitest';
import { ConflictError, ConnectionError, ServiceUnavailableError } from './index.ts';
import { cutOff, type Peer, type Step, startPeer } from './test-peer.ts';

const refusal = (status: number, code: string): Step => ({
  status,
  json: {
    error: { type: 'api_error', code, message: `said ${code}`, doc_url: '' },
    request_id: 'r',
    timestamp: 1,
  },
});
const busy = refusal(503, 'service_unavailable');
const session = (status: string): Step => ({ json: { id: 'cs_1', status } });
const payment = (status: string): Step => ({ json: { id: 'pay_1', status } });
const calls = (peer: Peer) =>
  peer.received.map(({ method, url, body }) =>
    `${method} ${url.replace('/api/v1', '')} ${body.toString()}`.trim(),
  );

const CREATE = 'POST /checkout/sessions/create {"amount":1999,"currency":"USD"}';
const input = { amount: 1_999n, currency: 'USD' };

test('every call has its method, path and body', async () => {
  await using peer = await startPeer(...Array.from({ length: 7 }, () => ({})));
  const { checkout, payments, testHelpers } = peer.client();
  await checkout.sessions.create({ ...input, order_id: 'A-1', metadata: { cart: 7 } });
  await checkout.sessions.retrieve('cs_1');
  await checkout.sessions.cancel('cs_1');
  await payments.retrieve('pay_1');
  await payments.accept('pay_1');
  await payments.accept('pay_1', { tx_id: '0x1:2' });
  const choice = { currency: 'USDT', network: 'spl' } as const;
  await testHelpers.checkout.sessions.pay('cs_1', { ...choice, amount: '1.5', final: false });
  expect(calls(peer)).toEqual([
    'POST /checkout/sessions/create {"amount":1999,"currency":"USD","order_id":"A-1","metadata":{"cart":7}}',
    'GET /checkout/sessions/cs_1',
    'POST /checkout/sessions/cs_1/cancel {}',
    'GET /payment/pay_1',
    'POST /payment/pay_1/accept {}',
    'POST /payment/pay_1/accept {"tx_id":"0x1:2"}',
    'POST /test_helpers/checkout/sessions/cs_1/pay {"currency":"USDT","network":"spl","final":false,"amount":1500000}',
  ]);
});

test('a price is a whole number that a JSON number carries exactly: nothing else leaves', async () => {
  await using peer = await startPeer();
  const { sessions } = peer.client().checkout;
  const create = (amount: unknown) => sessions.create({ ...input, amount: amount as bigint });
  await expect(create(19.99)).rejects.toThrow(TypeError);
  await expect(create('19.99')).rejects.toThrow(TypeError);
  for (const wrong of [null, undefined, Number.NaN, Number.POSITIVE_INFINITY, {}, true])
    await expect(create(wrong)).rejects.toThrow(TypeError);
  await expect(create(2n ** 53n)).rejects.toThrow(RangeError);
  await expect(create(2 ** 53)).rejects.toThrow(RangeError);
  expect(peer.received).toEqual([]);
});

test('a price is a number as well', async () => {
  await using peer = await startPeer(session('open'));
  await peer.client().checkout.sessions.create({ ...input, amount: 1_999 });
  expect(JSON.parse(peer.received[0]?.body.toString() ?? '')).toMatchObject({ amount: 1_999 });
});

test.each([
  ['503', busy],
  ['a reset connection', cutOff],
])('B3: a create in doubt (%s) is repeated with the same bytes and key', async (_name, trouble) => {
  await using peer = await startPeer(trouble, session('open'));
  expect(await peer.client().checkout.sessions.create(input)).toMatchObject({ id: 'cs_1' });
  expect(calls(peer)).toEqual([CREATE, CREATE]);
  const [first, second] = peer.received;
  expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
  expect(second?.headers['x-service-nonce']).not.toBe(first?.headers['x-service-nonce']);
});

test("B4: a caller's key that belongs to another request is a conflict, thrown once", async () => {
  await using peer = await startPeer(refusal(409, 'conflict'));
  const created = peer.client().checkout.sessions.create(input, { idempotencyKey: 'order 7' });
  await expect(created).rejects.toThrow(ConflictError);
  expect(peer.received.map(({ headers }) => headers['idempotency-key'])).toEqual(['order 7']);
});

test('a cancel in doubt is read before it is repeated', async () => {
  await using done = await startPeer(cutOff, session('canceled'));
  expect(await done.client().checkout.sessions.cancel('cs_1')).toMatchObject({ status: 'canceled' });
  expect(done.received.map(({ method }) => method)).toEqual(['POST', 'GET']);
  await using again = await startPeer(busy, session('open'), session('canceled'));
  expect(await again.client().checkout.sessions.cancel('cs_1')).toMatchObject({ status: 'canceled' });
  expect(again.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'POST']);
});

test('an accept in doubt is read before it is repeated; one of a single transfer is left to the caller', async () => {
  await using done = await startPeer(cutOff, payment('completed'));
  expect(await done.client().payments.accept('pay_1')).toMatchObject({ status: 'completed' });
  expect(done.received).toHaveLength(2);
  await using late = await startPeer(
    cutOff,
    payment('expired'),
    refusal(400, 'invalid_request_error'),
    payment('completed'),
  );
  expect(await late.client().payments.accept('pay_1')).toMatchObject({ status: 'completed' });
  await using one = await startPeer(busy);
  const accepted = one.client().payments.accept('pay_1', { tx_id: '0x1' });
  await expect(accepted).rejects.toThrow(ServiceUnavailableError);
  expect(one.received).toHaveLength(1);
});

test('the payer of the sandbox never pays twice: a payment in doubt is not repeated', async () => {
  await using peer = await startPeer(cutOff, payment('completed'));
  const choice = { currency: 'USDT', network: 'spl' } as const;
  await expect(peer.client().testHelpers.checkout.sessions.pay('cs_1', choice)).rejects.toThrow(
    ConnectionError,
  );
  expect(peer.received).toHaveLength(1);
});
