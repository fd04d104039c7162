import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { billing } from '../subscriptions/billing.ts';

let service: TestService;
let merchant: TestMerchant;
let calls: ReturnType<typeof billing>;

beforeAll(async () => {
  service = await startService();
  merchant = await service.createMerchant({ funds: 0n });
  calls = billing(service, merchant);
});
afterAll(async () => {
  await service?.stop();
});

const FORMS: [given: string, normal: string][] = [
  ['HTTPS://Shop.Example', 'https://shop.example/'],
  ['https://shop.example:443/a/../b/./c', 'https://shop.example/b/c'],
  ['https://shop.example/\tdone\n', 'https://shop.example/done'],
  ['https:\\\\shop.example\\done', 'https://shop.example/done'],
  ['https://bücher.example/ü ?q="x"', 'https://xn--bcher-kva.example/%C3%BC%20?q=%22x%22'],
  ['http://LOCALHOST:80/done', 'http://localhost/done'],
];

test.each(FORMS)('%j is stored as a browser opens it', async (given, normal) => {
  const urls = { success_url: given, cancel_url: given };
  const session = await calls.open(urls);
  expect([session.success_url, session.cancel_url]).toEqual([normal, normal]);
  await calls.make(urls);
  expect((await calls.post('/portal/sessions', { customer: 'customer-1', return_url: given })).status).toBe(
    200,
  );
  const { rows } = await sql<{ url: string }>`
    select success_url as url from subscription where merchant_id = ${merchant.merchantId}
    union select cancel_url from subscription where merchant_id = ${merchant.merchantId}
    union select return_url from portal_session where merchant_id = ${merchant.merchantId}`.execute(
    service.app.db,
  );
  const stored = rows.map(({ url }) => url);
  expect(stored).toContain(normal);
  expect(stored.filter((url) => new URL(url).href !== url)).toEqual([]);
});

test('a repeated request is replayed, whatever form is stored', async () => {
  const once = { 'idempotency-key': 'return-url' };
  const order = { amount: 100, currency: 'USDT', success_url: 'HTTPS://shop.example' };
  const [one, two] = [
    await calls.post('/checkout/sessions/create', order, once),
    await calls.post('/checkout/sessions/create', order, once),
  ];
  expect([one.status, two.status, two.json.id]).toEqual([200, 200, one.json.id]);
});

test('a URL that exceeds the limit once it is escaped is refused', async () => {
  const success_url = `https://shop.example/${'ü'.repeat(1_000)}`;
  const answer = await calls.post('/checkout/sessions/create', {
    amount: 100,
    currency: 'USDT',
    success_url,
  });
  expect([answer.status, answer.json.error]).toMatchObject([400, { param: 'success_url' }]);
});
