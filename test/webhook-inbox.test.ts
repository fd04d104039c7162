import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeEvent } from './events/make-event.ts';
import { rawRequest, serveSandboxPages } from './sandbox-pages.ts';
import { startService, type TestMerchant, type TestService } from './service.ts';

let service: TestService;
let merchant: TestMerchant;
let server: FastifyInstance;
let url = '';

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
  ({ url, server } = await serveSandboxPages(service, merchant));
});
afterAll(async () => {
  await server?.close();
  await service?.stop();
});

const call = (path: string, headers: Record<string, string> = {}) => rawRequest(`${url}${path}`, { headers });

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
