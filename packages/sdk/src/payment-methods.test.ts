import { expect, test } from 'vitest';
import { cutOff, type Peer, type Step, startPeer } from './test-peer.ts';

const method = (status: string): Step => ({ json: { id: 'pm_1', status } });
const calls = (peer: Peer) =>
  peer.received.map(({ method: verb, url, body }) =>
    `${verb} ${url.replace('/api/v1', '')} ${body.toString()}`.trim(),
  );

test('every call has its method, path and body', async () => {
  await using peer = await startPeer(...Array.from({ length: 6 }, () => ({ json: { data: [] } })));
  const { paymentMethods, testHelpers } = peer.client();
  await paymentMethods.retrieve('pm_1');
  await paymentMethods.list({ customer: 'ada' }).page();
  await paymentMethods.update('pm_1', { metadata: { a: 1 } });
  await paymentMethods.revoke('pm_1');
  await testHelpers.paymentMethods.change('pm_1', { balance: 0n, allowance: '1' });
  await testHelpers.paymentMethods.change('pm_1', { revoked: true });
  expect(calls(peer)).toEqual([
    'GET /payment_method/pm_1',
    'GET /payment_methods?customer=ada',
    'POST /payment_methods/pm_1/update {"metadata":{"a":1}}',
    'POST /payment_methods/pm_1/revoke {}',
    'POST /test_helpers/payment_methods/pm_1 {"balance":0,"allowance":1000000}',
    'POST /test_helpers/payment_methods/pm_1 {"revoked":true}',
  ]);
});

test('a revoke in doubt is read before it is repeated', async () => {
  await using done = await startPeer(cutOff, method('revoked'));
  expect(await done.client().paymentMethods.revoke('pm_1')).toMatchObject({ status: 'revoked' });
  await using again = await startPeer(cutOff, method('active'), method('revoked'));
  expect(await again.client().paymentMethods.revoke('pm_1')).toMatchObject({ status: 'revoked' });
  expect(again.received.map((one) => one.method)).toEqual(['POST', 'GET', 'POST']);
});
