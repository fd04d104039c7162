import { expect, test } from 'vitest';
import { startPeer } from './test-peer.ts';

test('every call has its method and path', async () => {
  const list = { json: { object: 'list', data: [], has_more: false, url: '/' } };
  await using peer = await startPeer(list, {});
  const { mails } = peer.client();
  await mails.list({ to: 'ada@example.com', created: { gte: 5 } }).page();
  await mails.retrieve('mail_1');
  expect(peer.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /api/v1/mails?to=ada%40example.com&created%5Bgte%5D=5',
    'GET /api/v1/mails/mail_1',
  ]);
});
