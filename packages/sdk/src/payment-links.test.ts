import { expect, test } from 'vitest';
import { cutOff, startPeer } from './test-peer.ts';

const calls = (received: readonly { method: string; url: string; body: Buffer }[]) =>
  received.map(({ method, url, body }) =>
    `${method} ${url.replace('/api/v1', '')} ${body.toString()}`.trim(),
  );

test('every call has its method, path and body', async () => {
  await using peer = await startPeer(...Array.from({ length: 5 }, () => ({})));
  const { paymentLinks } = peer.client();
  await paymentLinks.create({ amount: 1_999n, currency: 'USD', description: 'Coffee' });
  await paymentLinks.create({ open: true, currency: 'JPY' });
  await paymentLinks.retrieve('plink_1');
  await paymentLinks.list({ limit: 5 }).page();
  await paymentLinks.update('plink_1', { active: false });
  expect(calls(peer.received)).toEqual([
    'POST /payment_links {"currency":"USD","description":"Coffee","amount":1999}',
    'POST /payment_links {"open":true,"currency":"JPY"}',
    'GET /payment_links/plink_1',
    'GET /payment_links?limit=5',
    'POST /payment_links/plink_1/update {"active":false}',
  ]);
});

test('B3: a create in doubt is repeated under the same key, an update is read before it is repeated', async () => {
  await using peer = await startPeer(cutOff, { json: { id: 'plink_1' } });
  expect(await peer.client().paymentLinks.create({ open: true, currency: 'USD' })).toEqual({ id: 'plink_1' });
  const [first, second] = peer.received;
  expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
  expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
  await using other = await startPeer(cutOff, {}, { json: { active: false } });
  expect(await other.client().paymentLinks.update('plink_1', { active: false })).toEqual({ active: false });
  expect(other.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'POST']);
});

test('a price is a whole number: nothing else leaves', async () => {
  await using peer = await startPeer();
  const { paymentLinks } = peer.client();
  const wrong = paymentLinks.create({ amount: 19.99 as unknown as bigint, currency: 'USD' });
  await expect(wrong).rejects.toThrow(TypeError);
  expect(peer.received).toEqual([]);
});
