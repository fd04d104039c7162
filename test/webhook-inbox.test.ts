import { request } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiServer } from '../packages/server/src/app.ts';
import { makeEvent } from './events/make-event.ts';
import { startService, type TestMerchant, type TestService } from './service.ts';

let service: TestService;
let merchant: TestMerchant;
let server: FastifyInstance;
let url = '';

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
  const { merchantId, storeId } = merchant;
  server = createApiServer(service.app, {
    publicUrl: () => url,
    rate: { perSecond: 100, burst: 100 },
    sandbox: { owner: { merchantId, storeId }, folderOption: '' },
  });
  url = await server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server?.close();
  await service?.stop();
});

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** As raw as it gets: `fetch` sets Host by itself. */
async function call(path: string, headers: Record<string, string> = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sent = request(`${url}${path}`, { headers }, (answer) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
    });
  });
  sent.on('error', reject).end();
  return await promise;
}

const PAGE = '/sandbox/webhooks';
const LIST = `${PAGE}/list`;

test('it shows the events of the own store, and nothing of another store or merchant', async () => {
  await makeEvent(service, merchant, { object: { of: 'own' } });
  await makeEvent(service, await service.addStore(merchant), { object: { of: 'other store' } });
  await makeEvent(service, await service.createMerchant({ funds: 0n }), { object: { of: 'stranger' } });
  for (const path of [PAGE, LIST]) {
    const { status, text } = await call(path);
    expect(status).toBe(200);
    expect(text).toContain('&quot;own&quot;');
    expect(text).not.toMatch(/other store|stranger/);
  }
});

test('the list is sent again only where it has changed', async () => {
  const { headers } = await call(LIST);
  const known = { 'if-none-match': String(headers.etag) };
  expect((await call(LIST, known)).status).toBe(304);
  await makeEvent(service, merchant);
  expect((await call(LIST, known)).status).toBe(200);
});

const REFUSED: [what: string, headers: () => Record<string, string>][] = [
  ['a name that was made to point here', () => ({ host: `evil.example:${new URL(url).port}` })],
  ['a caller behind a proxy', () => ({ 'x-forwarded-for': '203.0.113.9' })],
];
for (const [what, headers] of REFUSED) {
  test(`${what} sees nothing`, async () => {
    for (const path of [PAGE, LIST]) {
      const { status, text } = await call(path, headers());
      expect(status).toBe(403);
      expect(text).not.toContain('evt_');
    }
  });
}

test('a page of another site can link to it and not read it', async () => {
  for (const site of ['cross-site', 'same-site']) {
    expect((await call(PAGE, { 'sec-fetch-site': site })).status).toBe(200);
    expect((await call(LIST, { 'sec-fetch-site': site })).status).toBe(403);
  }
  const { headers } = await call(PAGE);
  expect(headers['cross-origin-resource-policy']).toBe('same-origin');
  const policy = String(headers['content-security-policy']);
  expect(policy).toMatch(/default-src 'none'.*script-src 'self'.*connect-src 'self'.*frame-ancestors 'none'/);
  expect(policy).not.toMatch(/https?:|\*|unsafe/);
});

test('a process without a sandbox has no such page', async () => {
  for (const path of [PAGE, LIST, '/sandbox/live.js']) {
    expect((await fetch(`${service.baseUrl}${path}`)).status).toBe(401);
  }
});
