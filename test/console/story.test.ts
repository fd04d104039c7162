import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteStoryUntil, tellStory } from '../../packages/server/src/sandbox/index.ts';
import { getMerchant } from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { signIn } from './people.ts';

const LONG_MS = 120_000;
let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
}, LONG_MS);
afterAll(() => service.stop());

/** Tells the story to a merchant; @param calls after so many the sandbox ends */
async function tell(merchant: TestMerchant, calls = Number.POSITIVE_INFINITY) {
  let made = 0;
  const isWhole = await tellStory({
    credentials: {
      base_url: service.baseUrl,
      merchant_id: encodeId('merchant', merchant.merchantId),
      store_id: encodeId('store', merchant.storeId),
      api_key: merchant.apiKey,
      secret_key: merchant.secretKey,
    },
    inject: async ({ method, url, headers, payload }) => {
      made += 1;
      const body = payload === '' ? {} : { body: payload };
      const answer = await fetch(`${service.baseUrl}${url}`, { method, headers, ...body });
      return { statusCode: answer.status, body: await answer.text() };
    },
    nowSeconds: () => service.app.clock.nowSeconds(),
    noteUntil: (seconds) => noteStoryUntil(service.app.db, merchant.merchantId, seconds),
    isStopped: () => made >= calls,
  });
  return { isWhole, made };
}

async function storeOf({ sdk }: TestMerchant) {
  const [customers, payments, subscriptions, invoices, payouts, deliveries, endpoints] = await Promise.all([
    sdk.customers.list(),
    sdk.payments.list(),
    sdk.subscriptions.list(),
    sdk.invoices.list(),
    sdk.payouts.list(),
    sdk.deliveries.list(),
    sdk.webhookEndpoints.list(),
  ]);
  return {
    customers: customers.data.length,
    payments: payments.data
      .filter(({ order_id }) => order_id !== null)
      .map(({ order_id, status, exceptions, transactions }) => [
        order_id,
        status,
        exceptions,
        transactions.length,
      ]),
    subscriptions: subscriptions.data.map(({ status }) => status),
    invoices: invoices.data.map(({ status }) => status),
    payouts: payouts.data.map(({ status, total_amount }) => [status, total_amount]),
    deliveries: new Set(deliveries.data.map(({ status }) => status)),
    endpoints: endpoints.data.map(({ status }) => status),
  };
}

const WHOLE = {
  customers: 3,
  payments: [
    ['order-1002', 'pending', ['underpaid'], 1],
    ['order-1001', 'completed', [], 1],
  ],
  subscriptions: ['active'],
  invoices: ['paid', 'paid', 'paid'],
  payouts: [['pending_approval', '12500.00']],
  deliveries: new Set(['failed']),
  endpoints: ['disabled'],
};

test('a fresh sandbox has a story within 5 s, and telling it again changes nothing', {
  timeout: LONG_MS,
}, async () => {
  const merchant = await service.createMerchant();
  const begun = performance.now();
  expect((await tell(merchant)).isWhole).toBe(true);
  console.log(`the story takes ${Math.round(performance.now() - begun)} ms`);
  await expect.poll(() => storeOf(merchant), { timeout: 20_000 }).toEqual(WHOLE);
  expect((await tell(merchant)).isWhole).toBe(true);
  expect(await storeOf(merchant)).toEqual(WHOLE);
  expect((await getMerchant(service.app.db, merchant.merchantId)).clockOffset).toBe(0);
  // What the console calls done is what people have done.
  const viewer = await signIn(service, merchant, 'viewer');
  const place = `merchants/${encodeId('merchant', merchant.merchantId)}/stores/${encodeId('store', merchant.storeId)}`;
  const steps = async () => Object((await viewer.call(`/console/api/${place}/overview`)).body).first_steps;
  expect(await steps()).toMatchObject({ request: false, payment: false, webhook: false });
  await merchant.sdk.testHelpers.advanceClock(2);
  await merchant.sdk.webhookEndpoints.create({ url: 'https://webhooks.test/200' });
  const { id } = await merchant.sdk.checkout.sessions.create({ amount: 990n, currency: 'USD' });
  await merchant.sdk.testHelpers.checkout.sessions.pay(id, { currency: 'USDT', network: 'erc20' });
  await expect.poll(steps, { timeout: 20_000 }).toMatchObject({ payment: true, webhook: true });
});

test('cut off after any call, it is gone on with and nothing is there twice; real money has none', {
  timeout: LONG_MS,
}, async () => {
  const merchant = await service.createMerchant();
  let calls = 1;
  while (!(await tell(merchant, calls)).isWhole) calls += 1;
  expect(calls).toBeGreaterThan(10);
  await expect.poll(() => storeOf(merchant), { timeout: 20_000 }).toEqual(WHOLE);
  const live = await service.createMerchant({ mode: 'live' });
  await expect(tell(live)).rejects.toThrow('answers 403');
  expect((await live.sdk.customers.list()).data).toEqual([]);
});
