import { expect, test } from 'vitest';
import { InvalidRequestError } from './index.ts';
import { cutOff, startPeer } from './test-peer.ts';

const ada = { external_customer_id: 'ada', email: 'ada@shop.example' };
const found = (...data: object[]) => ({ json: { object: 'list', data, has_more: false, url: '/' } });
const known = {
  status: 400,
  json: {
    error: { type: 'invalid_request_error', code: 'invalid_request_error', message: 'known' },
    request_id: 'r',
    timestamp: 1,
  },
};

test('every call has its method, path and body', async () => {
  await using peer = await startPeer({}, {}, found(), {});
  const { customers } = peer.client();
  await customers.create(ada);
  await customers.retrieve('cus_1');
  await customers.list({ external_customer_id: 'a b' }).page();
  await customers.update('cus_1', { name: 'Ada' });
  expect(peer.received.map(({ method, url, body }) => `${method} ${url} ${body.toString()}`.trim())).toEqual([
    `POST /api/v1/customers/create ${JSON.stringify(ada)}`,
    'GET /api/v1/customers/cus_1',
    'GET /api/v1/customers?external_customer_id=a+b',
    'POST /api/v1/customers/cus_1/update {"name":"Ada"}',
  ]);
});

test('B3: a create in doubt is looked up by the id of the caller, and repeated only where it made nothing', async () => {
  await using done = await startPeer(cutOff, found({ id: 'cus_1', ...ada }));
  expect(await done.client().customers.create(ada)).toMatchObject({ id: 'cus_1' });
  expect(done.received.map(({ method }) => method)).toEqual(['POST', 'GET']);
  await using again = await startPeer(cutOff, found(), { json: { id: 'cus_2' } });
  expect(await again.client().customers.create(ada)).toMatchObject({ id: 'cus_2' });
  expect(again.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'POST']);
});

test('a customer who was there with other details is not taken for the one in doubt', async () => {
  const other = found({ id: 'cus_1', external_customer_id: 'ada', email: 'other@shop.example' });
  await using peer = await startPeer(cutOff, other, known, other);
  await expect(peer.client().customers.create(ada)).rejects.toThrow(InvalidRequestError);
});
