import { expect, test } from 'vitest';
import { ConflictError, InvalidRequestError } from './index.ts';
import { cutOff, type Peer, type Step, startPeer } from './test-peer.ts';

const refusal = (status: number, code: string, more: object = {}): Step => ({
  status,
  json: {
    error: { type: 'invalid_request_error', code, message: `said ${code}`, doc_url: '', ...more },
    request_id: 'r',
    timestamp: 1,
  },
});
const subscription = (status: string): Step => ({ json: { id: 'sub_1', status } });
const invoice = (status: string, payment_status: string): Step => ({
  json: { id: 'in_1', status, payment_status },
});
const calls = (peer: Peer) =>
  peer.received.map(({ method: verb, url, body }) =>
    `${verb} ${url.replace('/api/v1', '')} ${body.toString()}`.trim(),
  );

const price = {
  currency: 'USD',
  product: 'Gold',
  unit_amount: 1_999n,
  recurring: { interval: 'month' as const },
};
const items = [{ price_data: price, quantity: 2 }];
const itemText =
  '{"quantity":2,"price_data":{"currency":"USD","product":"Gold","unit_amount":1999,"recurring":{"interval":"month"}}}';

test('every call has its method, path and body', async () => {
  await using peer = await startPeer(...Array.from({ length: 14 }, () => ({ json: { data: [] } })));
  const { subscriptions, invoices, testHelpers } = peer.client();
  await subscriptions.create({ customer: 'ada', currency: 'USD', items });
  await subscriptions.retrieve('sub_1');
  await subscriptions.retrieve('sub_1', { expand: ['latest_invoice', 'customer'] });
  await subscriptions.list();
  await subscriptions.list({ customer: 'a b', status: 'active', limit: 3 });
  await subscriptions.cancel('sub_1');
  await subscriptions.cancel('sub_1', { cancel_at_period_end: true });
  await subscriptions.update('sub_1', { items, cancel_at: null, proration: 'none' });
  await subscriptions.previewUpdate('sub_1', { items });
  await invoices.retrieve('in_1');
  await invoices.list({ customer: 'cus_1', subscription: 'sub_1', status: 'open' }).page();
  await invoices.pay('in_1');
  await testHelpers.subscriptions.authorize('sub_1', { currency: 'USDT', network: 'trc20', cap: '12.5' });
  expect(calls(peer)).toEqual([
    `POST /subscriptions/create {"customer":"ada","currency":"USD","items":[${itemText}]}`,
    'GET /subscriptions/sub_1',
    'GET /subscriptions/sub_1?expand=latest_invoice%2Ccustomer',
    'GET /subscriptions',
    'GET /subscriptions?customer=a+b&status=active&limit=3',
    'POST /subscriptions/sub_1/cancel {}',
    'POST /subscriptions/sub_1/cancel {"cancel_at_period_end":true}',
    `POST /subscriptions/sub_1/update {"cancel_at":null,"proration":"none","items":[${itemText}]}`,
    `POST /subscriptions/sub_1/update/preview {"items":[${itemText}]}`,
    'GET /invoices/in_1',
    'GET /invoices?customer=cus_1&subscription=sub_1&status=open',
    'POST /invoices/in_1/pay {}',
    'POST /test_helpers/subscriptions/sub_1/authorize {"currency":"USDT","network":"trc20","cap":12500000}',
  ]);
});

test('B3: a create in doubt is repeated with the same key, one of its own where none is given', async () => {
  for (const options of [{}, { idempotencyKey: 'sub 1' }]) {
    await using peer = await startPeer(cutOff, subscription('incomplete'));
    const input = { customer: 'ada', currency: 'USD', items };
    expect(await peer.client().subscriptions.create(input, options)).toMatchObject({ id: 'sub_1' });
    const keys = peer.received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([options.idempotencyKey ?? expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0]]);
  }
});

test('B4: a key of another request is a ConflictError', async () => {
  await using peer = await startPeer(refusal(409, 'conflict'));
  const created = peer.client().subscriptions.create({ customer: 'ada', currency: 'USD', items });
  await expect(created).rejects.toThrow(ConflictError);
});

test('a price is a whole number', async () => {
  await using peer = await startPeer();
  const wrong = [{ price_data: { ...price, unit_amount: 19.99 as unknown as bigint } }];
  const { subscriptions } = peer.client();
  await expect(subscriptions.create({ customer: 'ada', currency: 'USD', items: wrong })).rejects.toThrow(
    TypeError,
  );
  await expect(subscriptions.update('sub_1', { items: wrong })).rejects.toThrow(TypeError);
  expect(peer.received).toEqual([]);
});

test('what may have had its effect is read before it is repeated', async () => {
  const writes: [what: (peer: Peer) => Promise<unknown>, done: Step, open: Step][] = [
    [(peer) => peer.client().subscriptions.cancel('sub_1'), subscription('canceled'), subscription('active')],
    [(peer) => peer.client().invoices.pay('in_1'), invoice('paid', 'completed'), invoice('open', 'failed')],
    [(peer) => peer.client().invoices.pay('in_1'), invoice('open', 'processing'), invoice('open', 'pending')],
  ];
  for (const [write, done, open] of writes) {
    await using landed = await startPeer(cutOff, done);
    expect(await write(landed)).toEqual((done as { json: object }).json);
    expect(landed.received.map((one) => one.method)).toEqual(['POST', 'GET']);
    await using again = await startPeer(cutOff, open, done);
    expect(await write(again)).toEqual((done as { json: object }).json);
    expect(again.received.map((one) => one.method)).toEqual(['POST', 'GET', 'POST']);
  }
});

test('a charge that could not succeed says why, and which charge it was', async () => {
  const more = { decline_code: 'insufficient_balance', charge: 'pay_1' };
  await using peer = await startPeer(refusal(400, 'invalid_request_error', more));
  const refused = await peer
    .client()
    .invoices.pay('in_1')
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(InvalidRequestError);
  expect(refused).toMatchObject({ declineCode: 'insufficient_balance', charge: 'pay_1' });
});
