import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { billing, DAY, item } from './billing.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const RETURN_URL = 'https://shop.example/account';

async function shop() {
  const merchant = await service.createMerchant({ funds: 0n });
  return billing(service, merchant);
}

/** What a browser without script does: reads, sends forms, and follows where it is led. */
async function browse(url: string, fields?: Record<string, string>, headers: Record<string, string> = {}) {
  const sent = fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields), headers };
  const answer = await fetch(url, sent);
  return { status: answer.status, url: answer.url, headers: answer.headers, text: await answer.text() };
}

/** The page that a customer's link opens, of a subscription that a test wallet pays for. */
async function portal(of?: Awaited<ReturnType<typeof shop>>, customer = 'customer-1') {
  const own = of ?? (await shop());
  const answer = await own.post('/portal/sessions', { customer, return_url: RETURN_URL });
  expect(answer.status, JSON.stringify(answer.json)).toBe(200);
  const { url, expires_at } = answer.json as { url: string; expires_at: number };
  const act = (fields: Record<string, string>, headers?: Record<string, string>) =>
    browse(url, fields, headers);
  return { ...own, url, expiresAt: expires_at, read: (query = '') => browse(`${url}${query}`), act };
}

test('one click on the test wallet gives the mandate, charges the first invoice, and the subscription begins', async () => {
  const { make, read, latest, merchant } = await shop();
  const made = await make({ success_url: 'https://shop.example/thanks' });
  const { checkout_url: url = '' } = made as { checkout_url?: string };
  const after = await browse(`${url}/wallet?lang=en`, { option: 'USDC:spl' });
  expect(after.url).toBe(`${url}?lang=en`);
  expect(after.text).toContain('Your subscription has begun');
  expect(after.text).toContain('href="https://shop.example/thanks"');
  // Whoever has its link sees this one subscription: not whose it is, and nothing to cancel it with.
  expect(after.text).not.toContain('customer-1');
  expect(after.text).not.toMatch(/name="action"|value="cancel"|\/portal\/|receipt/i);
  expect(await read(made.id)).toMatchObject({ status: 'active' });
  const invoice = await latest(made.id);
  expect(invoice).toMatchObject({ status: 'paid', amount_due: 2_000 });
  const [method] = await service.app.db
    .selectFrom('payment_method')
    .selectAll()
    .where('merchant_id', '=', merchant.merchantId)
    .execute();
  // Twice the price, so that the plan may grow a little.
  expect(method).toMatchObject({ currency: 'USDC', network: 'spl', cap_amount: 40_000_000n });
});

test('a trial asks for the wallet alone', async () => {
  const { make, read } = await shop();
  const made = await make({ trial_period_days: 14 });
  const { checkout_url: url = '' } = made as { checkout_url?: string };
  expect((await browse(url)).text).toContain('The first payment is taken then');
  const after = await browse(`${url}/wallet`, { option: 'USDT:erc20' });
  expect(after.text).toContain('Your subscription has begun');
  expect(await read(made.id)).toMatchObject({ status: 'trialing' });
});

test('only this period: the page of the invoice, and no mandate', async () => {
  const { make, read, latest, pay } = await shop();
  const made = await make();
  const { checkout_url: url = '' } = made as { checkout_url?: string };
  const page = await browse(url);
  const [, once = ''] = /href="(\.\.\/checkout\/[^"]+)"/.exec(page.text) ?? [];
  const session = await browse(new URL(once, url).href);
  expect(session.text).toContain('Pay $20.00');
  const { payment_id: sessionId = '' } = await latest(made.id);
  await pay(sessionId);
  await expect.poll(async () => (await read(made.id)).status, { timeout: 20_000 }).toBe('active');
  expect(await read(made.id)).not.toHaveProperty('payment_method_id');
  expect((await browse(url)).text).toContain('Your subscription has begun');
});

test('a wallet that is charged no more is no problem, one that is to be charged is', async () => {
  const own = await shop();
  const made = await own.make();
  const { payment_method_id: method = '' } = await own.authorize(made.id);
  await own.post(`/payment_methods/${method}/revoke`, {});
  const { read } = await portal(own);
  const PROBLEM = 'This wallet does not allow payments any more';
  expect((await read()).text).toContain(PROBLEM);
  await own.cancel(made.id, { cancel_at_period_end: true });
  expect((await read()).text).not.toContain(PROBLEM);
});

test('the portal shows subscriptions, invoices and receipts of its customer alone, without script', async () => {
  const own = await shop();
  const gold = await own.make({ description: 'Gold <i>plan</i>' });
  await own.authorize(gold.id);
  const other = await own.make({ customer: 'customer-2', items: [item(777)] });
  await own.authorize(other.id);
  const { read, url } = await portal(own);
  const page = await read();
  expect(page.status).toBe(200);
  expect(page.text).toContain('Gold');
  expect(page.text).toContain('$20.00');
  expect(page.text).toContain('Active');
  expect(page.text).toContain('Next payment');
  expect(page.text).toMatch(/USDT.* on .*Ethereum.*, .0x.{4}….{4}/);
  expect(page.text).toContain(`href="${RETURN_URL}"`);
  expect(page.text).not.toContain('$7.77');
  expect(page.text).not.toContain(other.id);
  expect(page.text).not.toMatch(/<script|\son\w+=|style=/i);
  expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none';.*frame-ancestors 'none'/);
  expect(page.headers.get('cache-control')).toBe('no-store');
  const [, receipt = ''] = /href="([^"]+\/receipts\/[^"]+)"/.exec(page.text) ?? [];
  const shown = await browse(new URL(receipt, url).href);
  expect(shown.status).toBe(200);
  const { id } = await own.latest(gold.id);
  for (const text of ['Receipt', 'customer-1', '$20.00', '20.00\u00a0USDT', id])
    expect(shown.text).toContain(text);
  const pulled = /0x[0-9a-f]{64}/.exec(shown.text)?.[0] ?? '';
  const { data } = await service.app.chains
    .sandbox(own.merchant.merchantId, 'erc20')
    .transfers({ limit: 100 });
  expect(data.map(({ txId }) => txId)).toContain(pulled);
  const { id: foreign } = await own.latest(other.id);
  expect((await browse(`${url}/receipts/${foreign}`)).status).toBe(404);
  expect((await browse(`${url}/receipts/nothing`)).status).toBe(404);
});

test('a customer cancels at the end of the period, after a confirmation, and undoes it', async () => {
  const own = await shop();
  const { id } = await own.make();
  const { current_period_end: end } = await own.authorize(id);
  const { act, read, url } = await portal(own);
  expect((await read()).text).toContain('Cancel the subscription');
  const asked = await act({ action: 'cancel', subscription: id });
  expect(asked.text).toContain('Cancel this subscription?');
  expect((await own.read(id)).cancel_at).toBeUndefined();
  const canceled = await act({ action: 'cancel', subscription: id, sure: 'yes' });
  expect(canceled.url).toBe(`${url}?lang=en`);
  expect(canceled.text).toContain('Ends on');
  expect(await own.read(id)).toMatchObject({ status: 'active', cancel_at: end });
  const kept = await act({ action: 'keep', subscription: id });
  expect(kept.text).toContain('Next payment');
  expect((await own.read(id)).cancel_at).toBeUndefined();
});

test('a customer replaces a wallet that is empty, and what is due is charged', async () => {
  const own = await shop();
  const { id } = await own.make();
  await own.authorize(id);
  const { hold } = await own.wallet();
  await hold(0n);
  await own.advance(32 * DAY);
  const { act, read, url } = await portal(own);
  const page = await read();
  expect(page.text).toContain('Payment overdue');
  expect(page.text).toContain('This wallet cannot pay what is due next');
  const again = await act({ action: 'pay', subscription: id });
  expect([again.status, again.text.includes('The wallet could not be charged')]).toEqual([400, true]);
  const replaced = await browse(`${url}/wallet?lang=es`, { option: 'USDT:trc20', subscription: id });
  expect(replaced.url).toBe(`${url}?lang=es`);
  expect(replaced.text).toContain('Activa');
  expect(replaced.text).toContain('Tron');
  expect(await own.read(id)).toMatchObject({ status: 'active' });
}, 60_000);

test('nobody does with a link what it does not offer: another customer’s, unknown actions, posts of other sites', async () => {
  const own = await shop();
  const mine = await own.make();
  await own.authorize(mine.id);
  const other = await own.make({ customer: 'customer-2' });
  await own.authorize(other.id);
  const { act, url } = await portal(own);
  const cancel = { action: 'cancel', sure: 'yes' };
  expect((await act({ ...cancel, subscription: other.id })).status).toBe(400);
  expect((await act({ action: 'delete', subscription: mine.id })).status).toBe(400);
  expect((await act({ action: 'pay', subscription: mine.id })).status).toBe(400);
  expect((await act({ action: 'keep', subscription: mine.id, sure: 'yes' })).status).toBe(200);
  const foreign = { 'sec-fetch-site': 'cross-site' };
  expect((await act({ ...cancel, subscription: mine.id }, foreign)).status).toBe(400);
  const wallet = await browse(`${url}/wallet`, { option: 'USDT:spl', subscription: other.id });
  expect(wallet.status).toBe(404);
  const json = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: new URLSearchParams({ ...cancel, subscription: mine.id }).toString(),
  });
  expect(json.status).toBe(400);
  for (const { id } of [mine, other]) expect((await own.read(id)).cancel_at).toBeUndefined();
});

test('a link opens for a day, and says so afterwards; a wrong secret opens nothing', async () => {
  const { url, read, expiresAt, advance, post } = await portal(await withCustomer());
  const now = await advance(1);
  expect(expiresAt - now).toBeGreaterThan(DAY - 60);
  expect((await read()).text).toContain('You have no subscription here');
  await advance(DAY);
  const over = await read();
  expect([over.status, over.text.includes('This link has expired')]).toEqual([410, true]);
  const wrong = await Promise.all(
    [`${url.slice(0, -4)}1111`, `${url}1`, `${service.baseUrl}/portal/x`].map((one) => browse(one)),
  );
  expect(new Set(wrong.map(({ status }) => status))).toEqual(new Set([404]));
  expect(new Set(wrong.map(({ text }) => text)).size).toBe(1);
  for (const [body, param] of [
    [{ customer: 'nobody', return_url: RETURN_URL }, 'customer'],
    [{ customer: 'cus_x', return_url: RETURN_URL }, 'customer'],
    [{ customer: 'customer-1', return_url: 'javascript:alert(1)' }, 'return_url'],
    [{ customer: 'customer-1', return_url: 'http://shop.example' }, 'return_url'],
  ] as const) {
    const answer = await post('/portal/sessions', body);
    expect([answer.status, answer.json]).toMatchObject([400, { error: { param } }]);
  }
});

async function withCustomer() {
  const own = await shop();
  await own.merchant.sdk.customers.create({ external_customer_id: 'customer-1' });
  return own;
}
