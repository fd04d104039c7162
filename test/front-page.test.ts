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
  ({ url, server } = await serveSandboxPages(service, merchant, { folderOption: " --data-dir '/a b'" }));
});
afterAll(async () => {
  await server?.close();
  await service?.stop();
});

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  rawRequest(`${url}${path}`, { method, headers });

test('a browser on the machine sees what runs, the next steps and the own store', async () => {
  await makeEvent(service, merchant, { resource: 'pb_own' });
  await makeEvent(service, await service.addStore(merchant), { resource: 'pb_other' });
  const { status, text, headers } = await ask('/', BROWSER);
  expect(status).toBe(200);
  expect(text).toContain('Ethereum, block');
  expect(text).toContain('sign GET /api/v1/balances --data-dir &#39;/a b&#39; | sh'.replaceAll('&#39;', "'"));
  expect(text).toContain('pb_own');
  expect(text).not.toContain('pb_other');
  expect(text).not.toContain(merchant.secretKey);
  expect(String(headers['content-security-policy'])).not.toMatch(/https?:|\*|unsafe/);
});

test('programs get what they got before: JSON, and a refusal without a key', async () => {
  for (const accept of ['application/json', '*/*', 'application/json, text/html;q=0.5']) {
    const { status, headers, text } = await ask('/', { accept });
    expect(status).toBe(401);
    expect(headers['content-type']).toContain('application/json');
    expect(JSON.parse(text).error.code).toBe('invalid_api_key');
  }
});

const ELSEWHERE: [what: string, headers: () => Record<string, string>][] = [
  ['a name that was made to point here', () => ({ host: `evil.example:${new URL(url).port}` })],
  ['a caller behind a proxy', () => ({ 'x-forwarded-for': '203.0.113.9' })],
];
for (const [what, headers] of ELSEWHERE) {
  test(`${what} sees the name of the service, and nothing of the store`, async () => {
    const { status, text } = await ask('/', { ...BROWSER, ...headers() });
    expect(status).toBe(200);
    expect(text).toContain('This is a payment service.');
    expect(text).not.toMatch(/evt_|mer_|sandbox\.json/);
    expect((await ask('/sandbox/events', headers())).status).toBe(403);
    expect((await ask('/sandbox/checkout', headers(), 'POST')).status).toBe(403);
  });
}

test('no other site reads the events or opens a payment', async () => {
  const { host } = new URL(url);
  for (const site of ['cross-site', 'same-site']) {
    expect((await ask('/sandbox/events', { 'sec-fetch-site': site })).status).toBe(403);
    expect((await ask('/sandbox/checkout', { 'sec-fetch-site': site }, 'POST')).status).toBe(403);
  }
  for (const origin of ['https://evil.example', 'null', `http://evil.example@${host}.evil.example`])
    expect((await ask('/sandbox/checkout', { origin }, 'POST')).status).toBe(403);
});

test('the demo checkout is a payment of the store', async () => {
  const own = { 'sec-fetch-site': 'same-origin', origin: url };
  const { status, headers } = await ask('/sandbox/checkout', own, 'POST');
  expect(status).toBe(303);
  const page = await ask(String(headers.location), BROWSER);
  expect(page.status).toBe(200);
  expect(page.text).toContain('$4.99');
  const { data } = await merchant.sdk.checkout.sessions.list().page();
  expect(data.map(({ description }) => description)).toContain('Demo checkout');
});

test('a process without a sandbox names the service and has nothing else there', async () => {
  const answer = await fetch(service.baseUrl, { headers: BROWSER });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('This is a payment service.');
  for (const path of ['/sandbox/events', '/sandbox/live.js'])
    expect((await fetch(`${service.baseUrl}${path}`)).status).toBe(401);
});
