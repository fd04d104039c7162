import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { AuthenticationError, ServerError, type WebhookEvent } from './index.ts';
import { cutOff, expectedSignature, payoutError, type Step, startPeer } from './test-peer.ts';

const TYPE = { 'content-type': 'text/event-stream; charset=utf-8' };
const eventOf = (id: string) => ({ id, object: 'event', type: 'payout_batch.updated' });
const textOf = (id: string) =>
  `id: ${id}\nevent: payout_batch.updated\ndata: ${JSON.stringify(eventOf(id))}\n\n`;

/** Writes these texts; then hangs up, or stays. */
const writes =
  (texts: readonly string[], end: (response: ServerResponse) => void = () => {}): Step =>
  (response) => {
    response.writeHead(200, TYPE);
    response.write(texts.join(''), () => end(response));
  };
const hangUp = (response: ServerResponse) => void response.socket?.destroy();
const finish = (response: ServerResponse) => void response.end();

async function take(stream: AsyncIterable<WebhookEvent>, count: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of stream) if (ids.push(id) === count) break;
  return ids;
}

test('it comes back behind the last event, after every kind of end, and each event is given once', async () => {
  await using peer = await startPeer(
    writes([': hello\n\n', 'retry: 1\nid: start\n\n', textOf('evt_1'), textOf('evt_2')], hangUp),
    writes(['id: evt_2\n\n', textOf('evt_3'), 'id: evt_4\nevent: x\ndata: {"half'], finish),
    cutOff,
    payoutError(503, 'service_unavailable'),
    payoutError(429, 'rate_limited', { 'retry-after': '0' }),
    writes([textOf('evt_4'), textOf('evt_5')]),
  );
  const opened: string[] = [];
  const interrupts: (string | undefined)[] = [];
  const stream = peer.client().events.stream({
    onOpen: (place) => opened.push(place),
    onInterrupt: (error) => interrupts.push(error?.constructor.name),
  });
  expect(await take(stream, 5)).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5']);
  expect(opened).toEqual(['start', 'evt_2']);
  expect(interrupts).toEqual([
    'ConnectionError',
    undefined,
    'ConnectionError',
    'ServiceUnavailableError',
    'RateLimitError',
  ]);
  const path = '/api/v1/events/stream';
  expect(peer.received.map(({ url }) => url)).toEqual([
    path,
    ...['evt_2', 'evt_3', 'evt_3', 'evt_3', 'evt_3'].map((id) => `${path}?after=${id}`),
  ]);
  for (const request of peer.received) {
    expect(request.headers['x-service-signature']).toBe(expectedSignature(request));
    expect(request.headers.accept).toBe('text/event-stream');
  }
});

test('the bodies come as they were written, byte for byte', async () => {
  const body = '{"id":"evt_1",  "data":{"2":1,"1":10000000000000000000000000000000000000.0}}';
  await using peer = await startPeer(writes([`id: evt_1\nevent: invoice.paid\ndata: ${body}\n\n`]));
  for await (const recorded of peer.client().events.streamRecorded({ after: 'evt_0' })) {
    expect(recorded).toEqual({ id: 'evt_1', type: 'invoice.paid', body });
    break;
  }
  expect(peer.received[0]?.url).toBe('/api/v1/events/stream?after=evt_0');
});

test('what coming back would not change is thrown', async () => {
  await using peer = await startPeer(
    { status: 401, json: { error: { code: 'invalid_api_key', message: 'no' } } },
    { status: 200, json: {} },
  );
  const { events } = peer.client();
  await expect(take(events.stream(), 1)).rejects.toThrow(AuthenticationError);
  await expect(take(events.stream(), 1)).rejects.toThrow(ServerError);
});

test('an aborted signal ends it: while it waits for events, in a pause, and before it begins', async () => {
  await using peer = await startPeer(writes([textOf('evt_1')]), writes([], hangUp));
  const { events } = peer.client({ retryPauseMs: 60_000 });
  const leaving = new AbortController();
  const ids: string[] = [];
  for await (const { id } of events.stream({ signal: leaving.signal })) {
    ids.push(id);
    setTimeout(() => leaving.abort(), 20);
  }
  expect(ids).toEqual(['evt_1']);
  const other = new AbortController();
  const onInterrupt = () => void setTimeout(() => other.abort(), 20);
  expect(await take(events.stream({ signal: other.signal, onInterrupt }), 1)).toEqual([]);
  expect(await take(events.stream({ signal: leaving.signal }), 1)).toEqual([]);
  expect(peer.received).toHaveLength(2);
});

test('a reader who leaves closes the connection', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  await using peer = await startPeer((response) => {
    response.on('close', resolve);
    response.writeHead(200, TYPE);
    response.write(textOf('evt_1'));
  });
  expect(await take(peer.client().events.stream(), 1)).toEqual(['evt_1']);
  await closed;
});
