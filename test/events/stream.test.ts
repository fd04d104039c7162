import { connect } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as stores from '../../packages/server/src/stores/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { callAsPage, type Person, pageHeaders, signIn } from '../console/people.ts';
import { until } from '../florin-command.ts';
import { expectError } from '../http/expect-error.ts';
import { serveWith } from '../http/http-server.ts';
import { requestText } from '../http/raw-socket.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send, signedHeaders } from '../signed-request.ts';
import { makeEvent, publisherOf } from './make-event.ts';
import { openStream, readStream } from './stream-reader.ts';

const STREAM = '/api/v1/events/stream';
const SOON_MS = 30_000;

let service: TestService;
let publish: (merchant: TestMerchant) => Promise<void>;

beforeAll(async () => {
  service = await startService();
  publish = publisherOf(service);
});
afterAll(() => service.stop());

async function withNews(count: number): Promise<TestMerchant> {
  const merchant = await service.createMerchant({ funds: 0n });
  for (let i = 0; i < count; i++) await makeEvent(service, merchant);
  await publish(merchant);
  return merchant;
}

/** The stored bodies in order of their numbers. */
async function recorded({ merchantId }: TestMerchant): Promise<{ id: string; body: string }[]> {
  const rows = await service.app.db
    .selectFrom('event')
    .select(['event_id', 'body'])
    .where('merchant_id', '=', merchantId)
    .orderBy('number')
    .execute();
  return rows.map(({ event_id, body }) => ({ id: encodeId('event', event_id), body }));
}

test('events are sent as recorded, in order of their numbers, followed by new ones as they are published', async () => {
  const merchant = await withNews(3);
  const stream = await openStream(service.baseUrl, merchant, '?after=start');
  expect([stream.status, stream.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  await stream.blocks(4);
  await makeEvent(service, merchant, { object: { text: 'line\nbreak\r\u2028 data: x' } });
  await publish(merchant);
  const [first, ...events] = await stream.blocks(5);
  expect(first).toEqual({ retry: '1000', id: 'start' });
  const expected = await recorded(merchant);
  expect(events).toEqual(expected.map(({ id, body }) => ({ id, event: 'payout_batch.updated', data: body })));
  expect(JSON.parse(events[3]?.data ?? '').id).toBe(expected[3]?.id);
  stream.close();
});

test('more than one page is sent completely, while more is published', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const some = () => Promise.all(Array.from({ length: 130 }, () => makeEvent(service, merchant)));
  await some();
  await publish(merchant);
  const stream = await openStream(service.baseUrl, merchant, '?after=start');
  await some();
  await publish(merchant);
  const ids = (await stream.blocks(261)).slice(1).map(({ id }) => id);
  expect(ids).toEqual((await recorded(merchant)).map(({ id }) => id));
  stream.close();
});

test('it continues after an event, by the query or by Last-Event-ID, which has precedence', async () => {
  const merchant = await withNews(4);
  const [one, two, three, four] = (await recorded(merchant)).map(({ id }) => id);
  const idsAfter = async (count: number, query: string, headers?: Record<string, string>) => {
    const stream = await openStream(service.baseUrl, merchant, query, headers);
    const blocks = await stream.blocks(count + 1);
    stream.close();
    return blocks.map(({ id }) => id);
  };
  expect(await idsAfter(2, `?after=${two}`)).toEqual([two, three, four]);
  expect(await idsAfter(1, `?after=${one}`, { 'last-event-id': three ?? '' })).toEqual([three, four]);
  expect(await idsAfter(4, '?after=start')).toEqual(['start', one, two, three, four]);
});

test('without a position it begins now, and sends that position, so that nothing is missed before the first event', async () => {
  const merchant = await withNews(2);
  const [, last] = await recorded(merchant);
  const stream = await openStream(service.baseUrl, merchant);
  expect(await stream.blocks(1)).toEqual([{ retry: '1000', id: last?.id }]);
  stream.close();
  await makeEvent(service, merchant);
  await publish(merchant);
  const again = await openStream(service.baseUrl, merchant, '', { 'last-event-id': last?.id ?? '' });
  expect((await again.blocks(2))[1]?.id).toBe((await recorded(merchant))[2]?.id);
  again.close();
  const empty = await service.createMerchant({ funds: 0n });
  const before = await openStream(service.baseUrl, empty);
  expect(await before.blocks(1)).toEqual([{ retry: '1000', id: 'start' }]);
  before.close();
});

test('an unpublished event is a position as well: later events follow once it is published', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  for (let i = 0; i < 3; i++) await makeEvent(service, merchant);
  const { json } = await send(`${service.baseUrl}/api/v1/events`, merchant);
  const ids = (json.data as { id: string }[]).map(({ id }) => id).reverse();
  const stream = await openStream(service.baseUrl, merchant, `?after=${ids[1]}`);
  await stream.blocks(1);
  await publish(merchant);
  expect((await stream.blocks(2)).map(({ id }) => id)).toEqual([ids[1], ids[2]]);
  stream.close();
});

test('an id of no event of the store is 400: unknown, malformed, of another store or merchant', async () => {
  const merchant = await withNews(1);
  const [event] = await recorded(merchant);
  const url = `${service.baseUrl}${STREAM}`;
  const refused = { status: 400, code: 'invalid_request_error' };
  for (const id of ['evt_00000000000000000000000000', 'evt_', 'START', '0', 'pb_1', '%00', 'x'.repeat(64)]) {
    expectError(await send(`${url}?after=${id}`, merchant), STREAM, { ...refused, param: 'after' });
  }
  const headers = { 'last-event-id': 'evt_00000000000000000000000000' };
  expectError(await send(url, merchant, { headers }), STREAM, { ...refused, param: 'Last-Event-ID' });
  for (const other of [await service.addStore(merchant), await service.createMerchant({ funds: 0n })]) {
    expectError(await send(`${url}?after=${event?.id}`, other), STREAM, { ...refused, param: 'after' });
  }
});

test('C2: the stream of a store has nothing of another store, or of another merchant', async () => {
  const merchant = await withNews(1);
  const others = [await service.addStore(merchant), await service.createMerchant({ funds: 0n })];
  const streams = await Promise.all(others.map((one) => openStream(service.baseUrl, one, '?after=start')));
  await makeEvent(service, merchant);
  await publish(merchant);
  for (const [i, other] of others.entries()) {
    await makeEvent(service, other, { object: { of: i } });
    await publish(other);
    const blocks = (await streams[i]?.blocks(2)) ?? [];
    expect(blocks.map(({ data }) => data && JSON.parse(data).data.object)).toEqual([undefined, { of: i }]);
    streams[i]?.close();
  }
});

test('a key has ten open streams at most; a closed one frees its slot', async () => {
  const merchant = await withNews(0);
  const streams = await Promise.all(Array.from({ length: 10 }, () => openStream(service.baseUrl, merchant)));
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
  const refused = await send(`${service.baseUrl}${STREAM}`, merchant);
  expectError(refused, STREAM, { status: 429, code: 'RATE_LIMIT_EXCEEDED' });
  expect(refused.headers.get('retry-after')).toBe('1');

  streams[0]?.close();

  await until(async () => (await send(`${service.baseUrl}${STREAM}`, merchant)).status === 200, SOON_MS);

  for (const stream of streams) stream.close();
});

test('a stream ends when its key is revoked, its store disabled or its merchant suspended', async () => {
  const { app } = service;
  const ends: ((merchant: TestMerchant) => Promise<unknown>)[] = [
    ({ merchantId, storeId }) => stores.changeStore(app, { merchantId, storeId }, { enabled: false }),
    ({ merchantId }) => stores.setMerchantStatus(app, merchantId, 'suspended'),
    async ({ merchantId, storeId, keyId }) => {
      const scopes = ['read'] as const;
      const next = await storeKeys.createKey(app, {
        merchantId,
        storeId,
        name: 'Next',
        validityDays: 0,
        scopes,
      });
      await storeKeys.setWebhookKey(app, { merchantId, storeId }, { keyId: next.keyId, overlapSeconds: 0 });
      await storeKeys.revokeKey(app, { merchantId, keyId });
    },
  ];
  for (const end of ends) {
    const merchant = await withNews(0);
    const stream = await openStream(service.baseUrl, merchant);
    await stream.blocks(1);
    await end(merchant);
    expect(await stream.blocks(Number.POSITIVE_INFINITY)).toHaveLength(1);
    expect([401, 403]).toContain((await send(`${service.baseUrl}${STREAM}`, merchant)).status);
  }
}, 120_000);

test('a server that closes ends its streams, and an answer under way is whole', async () => {
  const merchant = await withNews(2);
  const server = await serveWith(service, {});
  const stream = await openStream(server.baseUrl, merchant, '?after=start');
  await stream.blocks(3);
  await server.close();
  expect(await stream.blocks(Number.POSITIVE_INFINITY)).toHaveLength(3);
});

test('a client that does not read is disconnected; one that reads slowly loses nothing', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const object = { filling: 'x'.repeat(500_000) };
  for (let i = 0; i < 60; i++) await makeEvent(service, merchant, { object });
  await publish(merchant);
  const server = await serveWith(service, { timeouts: { unreadMs: 1_000 } });
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.pause();
  let isClosed = false;
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  const headers = Object.entries(signedHeaders(merchant));
  socket.write(requestText(`GET ${STREAM}?after=start HTTP/1.1`, headers));
  // Nothing is taken for longer than the server waits; then the rest of what was on its way, and the end.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.resume();
  await until(() => isClosed, SOON_MS);
  expect(bytes).toBeLessThan(60 * 500_000);

  await server.close();

  const slow = await openStream(service.baseUrl, merchant, '?after=start');
  for (let count = 1; count <= 61; count += 10) {
    await slow.blocks(count);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect((await slow.blocks(61)).slice(1).map(({ id }) => id)).toEqual(
    (await recorded(merchant)).map(({ id }) => id),
  );
  slow.close();
}, 120_000);

test('a comment is sent when there is no event', async () => {
  const merchant = await withNews(0);
  const stream = await openStream(service.baseUrl, merchant);
  expect((await stream.blocks(2))[1]).toEqual({ '': '' });
  stream.close();
}, 90_000);

test('a key without the scope read gets none, and other methods are 405', async () => {
  const writer = await service.createMerchant({ funds: 0n, scopes: ['write'] });
  expectError(await send(`${service.baseUrl}${STREAM}`, writer), STREAM, { status: 403, code: null });
  const merchant = await service.createMerchant({ funds: 0n });
  const posted = await send(`${service.baseUrl}${STREAM}`, merchant, { body: '{}' });
  expectError(posted, STREAM, { status: 405, code: 'method_not_allowed' });
});

const changesOf = ({ merchantId, storeId }: TestMerchant) =>
  `/console/api/merchants/${encodeId('merchant', merchantId)}/stores/${encodeId('store', storeId)}/changes`;
const accept = 'text/event-stream';
const follow = (person: Person, merchant: TestMerchant, lastId?: string) =>
  readStream(`${service.baseUrl}${changesOf(merchant)}`, {
    cookie: person.cookie,
    accept,
    ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
  });
const asked = ({ cookie }: Person, merchant: TestMerchant) =>
  callAsPage(service, changesOf(merchant), { cookie, accept });
const CHANGED = { event: 'changed', data: '' };

test('a page is told that something of its store has changed, and of nothing elsewhere; ten of a session at most', async () => {
  const merchant = await withNews(2);
  const viewer = await signIn(service, merchant, 'viewer');
  const page = await follow(viewer, merchant);
  expect(await page.blocks(1)).toEqual([{ retry: '1000', id: '2' }]);
  const other = await service.addStore(merchant);
  await makeEvent(service, other);
  await publish(other);
  await makeEvent(service, merchant);
  await publish(merchant);
  expect((await page.blocks(2))[1]).toEqual({ id: '3', ...CHANGED });
  page.close();
  const back = await follow(viewer, merchant, '2');
  expect((await back.blocks(2))[1]).toEqual({ id: '3', ...CHANGED });
  const pages = await Promise.all(Array.from({ length: 9 }, () => follow(viewer, merchant, 'nonsense')));
  expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200));
  expect((await asked(viewer, merchant)).status).toBe(429);
  for (const stream of [back, ...pages]) stream.close();
  const stranger = await service.createMerchant({ funds: 0n });
  expect((await asked(viewer, stranger)).status).toBe(403);
  // A store is no secret: payers' pages name it.
  const foreign = { ...merchant, storeId: stranger.storeId };
  expect((await asked(viewer, foreign)).status).toBe(404);
});

test('F1: what a page asks by itself keeps no session from ending', async () => {
  const merchant = await withNews(0);
  const owner = await signIn(service, merchant, 'owner');
  const seenAtMs = async () => {
    const row = await service.app.db
      .selectFrom('console_session')
      .select('seen_at_ms')
      .where('user_id', '=', owner.userId)
      .executeTakeFirstOrThrow();
    return Number(row.seen_at_ms);
  };
  const minutesAgo = service.app.clock.nowMs() - 20 * 60_000;
  await sql`update console_session set seen_at_ms = ${minutesAgo} where user_id = ${owner.userId}`.execute(
    service.app.db,
  );
  const asks = async (headers = {}) => {
    const url = '/api/v1/payments';
    const { status } = await callAsPage(service, url, {
      ...pageHeaders(service, owner, merchant),
      ...headers,
    });
    return status;
  };
  expect(await asks({ 'x-service-background': 'true' })).toBe(200);
  const stream = await follow(owner, merchant);
  expect([stream.status, await seenAtMs()]).toEqual([200, minutesAgo]);
  stream.close();
  expect(await asks()).toBe(200);
  expect(await seenAtMs()).toBeGreaterThan(minutesAgo);
});
