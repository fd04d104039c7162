import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { send } from '../signed-request.ts';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
});
afterAll(() => service.stop());

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const open = (path: string, { accept = HTML, ...init }: RequestInit & { accept?: string } = {}) =>
  fetch(`${service.baseUrl}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { accept, 'accept-language': 'en' },
  });

const MISSING = [
  '/nothing',
  '/checkout',
  '/docs/nothing',
  '/sandbox/webhooks',
  '/apix',
  '/favicon.ico',
  '/%zz',
  '/a/../b',
];
for (const path of MISSING) {
  test(`a browser that opens ${path} is told that there is no page`, async () => {
    const answer = await open(path);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await answer.text();
    expect(text).toContain('There is no page at this address');
    expect(text).toContain(answer.headers.get('x-request-id'));
  });
}

test('a page of an error is in the language of the browser', async () => {
  const headers = { accept: HTML, 'accept-language': 'ar, en;q=0.5' };
  const text = await (await fetch(`${service.baseUrl}/nothing`, { headers })).text();
  expect(text).toContain('<html lang="ar" dir="rtl">');
  expect(text).toContain('لا توجد صفحة');
});

const CALLS = [
  '/api',
  '/api/',
  '/api/v1/nothing',
  '/api/v1/balances',
  '/API/v1/x',
  '//api/v1/x',
  '/%61pi/v1/x',
  '/api/v1/%zz',
];
for (const path of CALLS) {
  test(`${path} is answered in JSON, whatever the caller accepts`, async () => {
    const answer = await open(path);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toContain('application/json');
    const signed = await send(`${service.baseUrl}/api/v1/nothing`, merchant, { headers: { accept: HTML } });
    expect(signed.status).toBe(404);
    expect(JSON.parse(signed.text)).toHaveProperty('error.code', 'resource_not_found');
  });
}

test('programs outside of the API get JSON', async () => {
  for (const accept of ['*/*', 'application/json', 'text/html;q=0', 'text/html;q=0.1, application/json']) {
    const answer = await open('/nothing', { accept });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toContain('application/json');
  }
});

test('other errors of pages are pages as well', async () => {
  const { url } = await merchant.sdk.checkout.sessions.create({ amount: 499n, currency: 'USD' });
  const page = new URL(url).pathname;
  const refused = await open(`${page}/simulate`, { method: 'POST' });
  expect(refused.status).toBe(400);
  const text = await refused.text();
  expect(text).toContain('The service could not read this request');
  expect(text).toContain('The test panel has no such action.');
  // All at once: a slow machine would answer one after the other no faster than the limit lets them in.
  const answers = await Promise.all(Array.from({ length: 300 }, () => open(`${page}/state`)));
  const statuses = answers.map(
    ({ status, headers }) => `${status} ${headers.get('content-type')?.split(';')[0]}`,
  );
  expect(new Set(statuses)).toEqual(new Set(['200 application/json', '429 text/html']));
});

test('an unexpected error is a page that tells nothing of the inside', async () => {
  const other = await startService();
  const { url } = await (await other.createMerchant({ funds: 0n })).sdk.checkout.sessions.create({
    amount: 499n,
    currency: 'USD',
  });
  await other.app.db.destroy();
  const answer = await fetch(`${url}/state`, { headers: { accept: HTML, 'accept-language': 'es' } });
  expect(answer.status).toBe(500);
  const text = await answer.text();
  expect(text).toContain('Algo falló por nuestra parte');
  expect(text).not.toMatch(/destroyed|driver|kysely/i);
  await other.stop();
});
