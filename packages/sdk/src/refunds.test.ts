import { expect, test } from 'vitest';
import { ConflictError, RateLimitError } from './index.ts';
import { cutOff, type Peer, type Step, startPeer } from './test-peer.ts';

const refusal = (status: number, code: string): Step => ({
  status,
  json: {
    error: { type: 'api_error', code, message: `said ${code}`, doc_url: '' },
    request_id: 'r',
    timestamp: 1,
  },
});
const refund = (status: string): Step => ({ json: { refund_id: 'r-1', status } });
const notFound = refusal(404, 'resource_not_found');
const calls = (peer: Peer) =>
  peer.received.map(({ method, url, body }) =>
    `${method} ${url.replace('/api/v1', '')} ${body.toString()}`.trim(),
  );

test('every call has its method, path and body', async () => {
  await using peer = await startPeer(...Array.from({ length: 5 }, () => ({})));
  const { refunds, testHelpers } = peer.client();
  await refunds.create({ refund_id: 'r-1', payment_id: 'pay_1' });
  await refunds.create({ refund_id: 'r-2', payment_id: 'pay_1', amount: '1.5', currency: 'USDT' });
  await refunds.retrieve('r-1');
  await refunds.cancel('r-1');
  await testHelpers.refunds.claim('r-1', '0xabc');
  expect(calls(peer)).toEqual([
    'POST /refunds/create {"refund_id":"r-1","payment_id":"pay_1"}',
    'POST /refunds/create {"refund_id":"r-2","payment_id":"pay_1","currency":"USDT","amount":1500000}',
    'GET /refunds/r-1',
    'POST /refunds/r-1/cancel {}',
    'POST /test_helpers/refunds/r-1/claim {"address":"0xabc"}',
  ]);
});

test('B3: a create in doubt is looked up, and sent again with the same refund_id', async () => {
  await using lost = await startPeer(cutOff, notFound, refund('pending'));
  expect(await lost.client().refunds.create({ payment_id: 'pay_1' })).toMatchObject({ status: 'pending' });
  const [first, look, second] = calls(lost);
  expect(second).toBe(first);
  const { refund_id: id } = JSON.parse(lost.received[0]?.body.toString() ?? '') as { refund_id: string };
  expect(look).toBe(`GET /refunds/${id}`);
  await using made = await startPeer(cutOff, refund('processing'));
  expect(await made.client().refunds.create({ payment_id: 'pay_1' })).toMatchObject({ status: 'processing' });
  expect(made.received).toHaveLength(2);
});

test('B4: an own refund_id is compared by the service, even where it is found', async () => {
  await using peer = await startPeer(cutOff, refund('pending'), refusal(409, 'conflict'), refund('pending'));
  const created = peer.client().refunds.create({ refund_id: 'r-1', payment_id: 'pay_1' });
  await expect(created).rejects.toThrow(ConflictError);
  expect(peer.received[2]?.method).toBe('POST');
});

test("the day's limit is final: nothing is repeated", async () => {
  await using peer = await startPeer(refusal(429, 'DAILY_REFUND_LIMIT_EXCEEDED'));
  await expect(peer.client().refunds.create({ payment_id: 'pay_1' })).rejects.toThrow(RateLimitError);
  expect(peer.received).toHaveLength(1);
});

test('a cancel in doubt is read before it is repeated', async () => {
  await using done = await startPeer(cutOff, refund('canceled'));
  expect(await done.client().refunds.cancel('r-1')).toMatchObject({ status: 'canceled' });
  await using again = await startPeer(cutOff, refund('pending'), refund('canceled'));
  expect(await again.client().refunds.cancel('r-1')).toMatchObject({ status: 'canceled' });
  expect(again.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'POST']);
});
