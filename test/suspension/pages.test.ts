import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiRoutes, publicPages } from '../../packages/server/src/app.ts';
import { setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { ok } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { startService, type TestService } from '../service.ts';
import { billing } from '../subscriptions/billing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.stop());

/** Written by what looks and waits, whoever the merchant is. */
const NOT_ITS_DOINGS = ['job', 'nonce', 'deposit_cursor', 'payment_method'];

/** All that lies there of a merchant: a digest for each table, in one statement. */
async function stateOf(merchantId: string): Promise<Record<string, string | null>> {
  const tables = await tablesOfMerchants();
  const digests = tables.map(
    (name) =>
      `select '${name}' as name, md5(string_agg(t::text, '|' order by t::text)) as sum from "${name}" t where merchant_id = $1`,
  );
  const rows = await asOwner<{ name: string; sum: string | null }>(service, digests.join(' union all '), [
    merchantId,
  ]);
  return Object.fromEntries(rows.map(({ name, sum }) => [name, sum]));
}

let names: Promise<string[]> | undefined;
/** Those with rows of merchants, but for what is not their doing. */
async function tablesOfMerchants(): Promise<string[]> {
  names ??= asOwner<{ name: string }>(
    service,
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where a.attname = 'merchant_id' and c.relkind in ('r', 'p') and not c.relispartition
       and c.relnamespace = 'public'::regnamespace and c.relname <> all ($1) order by 1`,
    [NOT_ITS_DOINGS],
  ).then((tables) => tables.map(({ name }) => name));
  return await names;
}

/** Once nothing of it is under way any more. */
async function restingState(merchantId: string) {
  let state = await stateOf(merchantId);
  let same = 0;
  await expect
    .poll(
      async () => {
        const before = state;
        state = await stateOf(merchantId);
        same = isDeepStrictEqual(state, before) ? same + 1 : 0;
        return same;
      },
      { interval: 500 },
    )
    .toBeGreaterThanOrEqual(3);
  return state;
}

interface Call {
  page: string;
  method: 'GET' | 'POST';
  url: string;
  form?: Record<string, string>;
  /** What it says of the suspension, where it would ask for something. */
  says?: string;
}

/** Every page of a merchant, with what its payers and customers may ask of it. */
async function callsOf(api: ReturnType<typeof billing>): Promise<Call[]> {
  const { merchant } = api;
  const money = refunds(service, merchant);
  const addresses = await merchant.sdk.testHelpers.addresses();
  const session = await api.open();
  const chosen = await api.open();
  await fetch(chosen.url, { method: 'POST', body: new URLSearchParams({ option: 'USDT:erc20' }) });
  const { id: paymentId } = await money.paid();
  const { claim_url: claim } = await money.refund({ payment_id: paymentId });
  if (claim === null) throw new Error('a payer without a proven wallet is asked');
  const link = await ok<{ url: string }>(
    api.post('/payment_links', { amount: 10 * TOKEN, currency: 'USDT' }),
  );
  const fresh = await api.make({ customer: 'fresh' });
  const running = await api.make({ customer: 'running' });
  await api.authorize(running.id);
  const invoice = await api.latest(running.id);
  const ending = await api.make({ customer: 'running' });
  await api.authorize(ending.id);
  await api.cancel(ending.id, { cancel_at_period_end: true });
  const { url: portal } = await ok<{ url: string }>(
    api.post('/portal/sessions', { customer: 'running', return_url: 'https://shop.example' }),
  );
  const { checkout_url: subscribe = '' } = fresh;
  const stopped = 'is stopped for now';
  const closed = 'This link is closed';
  const noPayments = 'takes no payments now';
  const option = { option: 'USDT:trc20' };
  const post = (page: string, url: string, form: Record<string, string>, says?: string): Call => ({
    page,
    method: 'POST',
    url,
    form,
    ...(says === undefined ? {} : { says }),
  });
  const get = (page: string, url: string, says?: string): Call => ({
    page,
    method: 'GET',
    url,
    ...(says === undefined ? {} : { says }),
  });
  const wallet = { ...option, subscription: running.id };
  return [
    get('/refunds/claim/{token}', claim, stopped),
    post('/refunds/claim/{token}', claim, { address: addresses.erc20.succeed, sure: 'yes' }, stopped),
    get('/pay/{token}', link.url, closed),
    post('/pay/{token}', link.url, {}, closed),
    get('/pay/{token}/qr', `${link.url}/qr`, closed),
    get('/checkout/{token}', session.url, noPayments),
    get('/checkout/{token}', chosen.url, noPayments),
    post('/checkout/{token}', session.url, option, noPayments),
    post('/checkout/{token}/simulate', `${session.url}/simulate`, { action: 'wallet' }, noPayments),
    post('/checkout/{token}/simulate', `${chosen.url}/simulate`, { action: 'expire' }, noPayments),
    get('/checkout/{token}/state', `${chosen.url}/state`, '"state":"suspended"'),
    get('/subscribe/{token}', subscribe, stopped),
    post('/subscribe/{token}/wallet', `${subscribe}/wallet`, option, stopped),
    get('/portal/{token}', portal, stopped),
    post('/portal/{token}', portal, { action: 'cancel', subscription: running.id, sure: 'yes' }, stopped),
    post('/portal/{token}', portal, { action: 'keep', subscription: ending.id }, stopped),
    post('/portal/{token}/wallet', `${portal}/wallet`, wallet, stopped),
    get('/portal/{token}/receipts/{invoice_id}', `${portal}/receipts/${invoice.id}`),
  ];
}

/** Pages that are no merchant's, or only tell again what another one says. */
const OTHERS = new Set([
  'GET /',
  'GET /checkout/{token}/events',
  'GET /checkout/assets/{file}',
  'GET /brand/{merchant}/{store}/{logo}',
  'GET /healthz',
  'GET /readyz',
  'GET /metrics',
  'GET /openapi.json',
  'GET /llms.txt',
]);

/** Of wallets that sign: `test/live/suspended-wallets.test.ts`. */
const WALLETS = new Set([
  'POST /checkout/{token}/wallet',
  'POST /checkout/{token}/wallet-transfer',
  'POST /checkout/{token}/wallet-text',
  'POST /checkout/{token}/wallet-proof',
  'POST /subscribe/{token}/mandate/offer',
  'POST /subscribe/{token}/mandate/approval',
  'POST /subscribe/{token}/mandate/sign',
]);

const browse = async ({ method, url, form }: Call) => {
  const answer = await fetch(url, {
    method,
    ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
  });
  return await answer.text();
};

test('each page of a suspended merchant says so, and changes nothing; afterwards each does again what it is for', async () => {
  const api = billing(service, await service.createMerchant());
  const calls = await callsOf(api);
  const { merchantId } = api.merchant;
  await setMerchantStatus(service.app, merchantId, 'suspended');
  const before = await restingState(merchantId);
  for (const call of calls) {
    const text = await browse(call);
    const name = `${call.method} ${call.url}`;
    expect(
      text.includes(call.says ?? '10'),
      `${name}: ${text.slice(text.indexOf('<main'), text.indexOf('<main') + 2_000)}`,
    ).toBe(true);
    expect(await stateOf(merchantId), name).toEqual(before);
  }
  await setMerchantStatus(service.app, merchantId, 'active');
  for (const call of calls.filter(({ method }) => method === 'POST')) {
    const last = await restingState(merchantId);
    await browse(call);
    await expect.poll(() => stateOf(merchantId), { timeout: 60_000 }).not.toEqual(last);
  }
}, 240_000);

test('every page of the service is one of those, or is no merchant’s', async () => {
  const api = billing(service, await service.createMerchant());
  const tried = new Set((await callsOf(api)).map(({ method, page }) => `${method} ${page}`));
  const options = { publicUrl: () => '', rate: { perSecond: 1, burst: 1 } };
  const pages = publicPages(service.app, apiRoutes(service.app), options);
  const unknown = pages
    .map(({ method = 'GET', path }) => `${method} ${path}`)
    .filter(
      (page) => !tried.has(page) && !OTHERS.has(page) && !WALLETS.has(page) && !page.startsWith('GET /docs'),
    );
  expect(unknown).toEqual([]);
});

test('money that a payer was asked for before is credited, and the page shows it', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const calls = checkout(service, merchant);
  const { id, url } = await calls.open();
  const { id: paymentId, address } = await calls.pay(id, { final: false, amount: 40 * TOKEN });
  await setMerchantStatus(service.app, merchant.merchantId, 'suspended');
  const state = async () => (await (await fetch(`${url}/state`)).json()) as { state: string; due: unknown };
  // `confirming` lasts two seconds.
  expect(await state()).toMatchObject({
    state: expect.stringMatching(/^(confirming|suspended)$/),
    due: null,
  });
  expect(await (await fetch(url)).text()).not.toContain(address);
  await expect.poll(async () => (await state()).state, { timeout: 30_000 }).toBe('suspended');
  const page = await (await fetch(url)).text();
  expect(page).toContain('40.00');
  expect(page).toContain('Please do not send more');
  await setMerchantStatus(service.app, merchant.merchantId, 'active');
  expect(await calls.payment(paymentId)).toMatchObject({ amount_received: 40 * TOKEN });
  await calls.pay(id);
  expect(await calls.payment(paymentId)).toMatchObject({ status: 'completed' });
  await expectLedgerWhole(service);
}, 60_000);
