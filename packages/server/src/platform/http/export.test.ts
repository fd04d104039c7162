import Type from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveWith } from '../../../../../test/http/http-server.ts';
import { startService, type TestMerchant, type TestService } from '../../../../../test/service.ts';
import { send, signedHeaders } from '../../../../../test/signed-request.ts';
import { defineList, type Route } from './index.ts';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant();
});
afterAll(() => service.stop());

const CLOSED = { additionalProperties: false };
const CSV = { accept: 'text/csv' };
const Item = Type.Object({ id: Type.String(), note: Type.String() }, CLOSED);
const List = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(Item), has_more: Type.Boolean(), url: Type.String() },
  CLOSED,
);
const Query = Type.Object(
  { limit: Type.Optional(Type.Integer()), starting_after: Type.Optional(Type.String()) },
  CLOSED,
);

/** A list of numbered items that counts how often it is read. */
function numbered(total: number, fails: (from: number) => boolean = () => false) {
  const reads: number[] = [];
  const route: Route = defineList({
    path: '/api/v1/numbers',
    operationId: 'listNumbers',
    tag: 'Test',
    summary: 'Numbers',
    query: Query,
    answer: List,
    refusals: [],
    read: async (_request, { limit, after }) => {
      const from = after === undefined ? 0 : Number(after) + 1;
      reads.push(from);
      if (fails(from)) throw new Error('the database is gone');
      const count = Math.min(limit, total - from);
      const data = Array.from({ length: count }, (_, i) => ({ id: String(from + i), note: 'x'.repeat(200) }));
      return { data, has_more: from + count < total };
    },
  });
  return { route, reads };
}

const fetchCsv = (baseUrl: string, signal?: AbortSignal) =>
  fetch(`${baseUrl}/api/v1/numbers`, {
    headers: signedHeaders(merchant, { headers: CSV }),
    ...(signal === undefined ? {} : { signal }),
  });

test('CSV holds every item once, in slices, in order', async () => {
  const { route, reads } = numbered(1_234);
  const node = await serveWith(service, { routes: [route] });
  try {
    const { text } = await send(`${node.baseUrl}/api/v1/numbers`, merchant, { headers: CSV });
    const ids = text.split('\r\n').map((line) => line.split(',', 1)[0]);
    expect(ids).toEqual(['id', ...Array.from({ length: 1_234 }, (_, i) => String(i)), '# 1234 rows', '']);
    expect(reads).toEqual([0, 500, 1_000]);
    const rest = await send(`${node.baseUrl}/api/v1/numbers?starting_after=1229`, merchant, { headers: CSV });
    expect(rest.text.split('\r\n').length).toBe(4 + 3);
  } finally {
    await node.close();
  }
});

test('an empty list has its headings and no rows', async () => {
  const node = await serveWith(service, { routes: [numbered(0).route] });
  const { text } = await send(`${node.baseUrl}/api/v1/numbers`, merchant, { headers: CSV });
  expect(text).toBe('id,note\r\n# 0 rows\r\n');
  await node.close();
});

test('nothing is read for a client that has gone away, and little for one that does not read', async () => {
  const { route, reads } = numbered(100_000_000);
  const node = await serveWith(service, { routes: [route] });
  const leaving = new AbortController();
  const response = await fetchCsv(node.baseUrl, leaving.signal);
  const reader = response.body?.getReader();
  await reader?.read();
  // What fits into the buffers of both sockets is read ahead, then it waits.
  await expect
    .poll(async () => {
      const before = reads.length;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return reads.length - before;
    })
    .toBe(0);
  expect(reads.length).toBeLessThan(200);
  leaving.abort();
  await reader?.cancel().catch(() => {});
  const after = reads.length;
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(reads.length).toBeLessThanOrEqual(after + 1);
  await node.close();
});

test('a failure on the way breaks the answer off: there is no last line', async () => {
  const { route } = numbered(5_000, (from) => from >= 2_000);
  const node = await serveWith(service, { routes: [route] });
  const response = await fetchCsv(node.baseUrl);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow(/terminated/);
  await node.close();
});

test('a key has four exports open at most, and gets a place back when one ends', async () => {
  const { route } = numbered(100_000_000);
  const node = await serveWith(service, { routes: [route] });
  const controllers = [1, 2, 3, 4].map(() => new AbortController());
  for (const { signal } of controllers) {
    expect((await fetchCsv(node.baseUrl, signal)).status).toBe(200);
  }

  const refused = await fetchCsv(node.baseUrl);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  await refused.text();
  const other = await service.addStore(merchant);

  const own = await fetch(`${node.baseUrl}/api/v1/numbers`, {
    headers: signedHeaders(other, { headers: CSV }),
  });
  expect(own.status).toBe(200);
  await own.body?.cancel();
  controllers[0]?.abort();
  await expect
    .poll(async () => {
      const answer = await fetchCsv(node.baseUrl);
      await (answer.ok ? answer.body?.cancel() : answer.text());
      return answer.status;
    })
    .toBe(200);
  for (const controller of controllers) controller.abort();
  // The client keeps connections open that it has given up, so nobody waits for this server.
  void node.close();
});
