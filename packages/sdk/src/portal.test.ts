import { expect, test } from 'vitest';
import { cutOff, startPeer } from './test-peer.ts';

const input = { customer: 'ada', return_url: 'https://shop.example/' };
const answer = { object: 'portal_session', url: 'https://pay.example/portal/x', expires_at: 1 };

test('a portal session is made, and made again where it is in doubt', async () => {
  await using peer = await startPeer(cutOff, { json: answer });
  expect(await peer.client().portal.sessions.create(input)).toEqual(answer);
  const sent = peer.received.map(({ method, url, body }) => `${method} ${url} ${body.toString()}`);
  const call = `POST /api/v1/portal/sessions ${JSON.stringify(input)}`;
  expect(sent).toEqual([call, call]);
});
