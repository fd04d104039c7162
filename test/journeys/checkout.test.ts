import { webhooks } from '@florin/sdk';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { payer } from '../links/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { Receivers } from '../webhooks/receiver.ts';

// What is waited for comes soon; on a busy machine, later.
const POLL = { timeout: 60_000 };

let service: TestService;
const receivers = new Receivers();

beforeAll(async () => {
  service = await startService({ worker: true, receive: receivers.post });
});
/** No journey ends with money that is nowhere. */
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

async function available(merchant: TestMerchant) {
  const { data } = await merchant.sdk.balances.retrieve();
  return data.find(({ currency }) => currency === 'USDT')?.available;
}

/** The first webhook of a type that a merchant's server takes, as it verifies and reads it. */
async function webhookOf(merchant: TestMerchant, url: string, type: string) {
  const found = () => receivers.at(url).find((one) => one.eventType === type);
  await expect.poll(found, POLL).toBeDefined();
  const { body = '', headers = {} } = found() ?? {};
  return webhooks.verify(Buffer.from(body), headers, merchant.secretKey);
}

test('a session is paid in parts, completes, tells the shop and is refunded: through the SDK alone', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const { checkout, payments, webhookEndpoints, events, refunds, testHelpers } = merchant.sdk;
  const { url } = await webhookEndpoints.create({ url: 'https://shop.example/paid' });
  const session = await checkout.sessions.create({
    amount: 1_999n,
    currency: 'USD',
    order_id: 'A-17',
    customer: 'ada',
    metadata: { cart: 7 },
  });
  expect(session).toMatchObject({ status: 'open', amount: 1_999, order_id: 'A-17', customer: 'ada' });
  const option = { currency: 'USDT', network: 'trc20' } as const;
  const part = await testHelpers.checkout.sessions.pay(session.id, { ...option, amount: '5.00' });
  expect(part).toMatchObject({ status: 'pending', exceptions: ['underpaid'], amount_received: 5_000_000 });
  const paid = await testHelpers.checkout.sessions.pay(session.id, option);
  expect(paid).toMatchObject({ status: 'completed', exceptions: [], metadata: { cart: 7 } });
  expect(paid.amount_received).toBe(paid.pay_amount);
  expect(await checkout.sessions.retrieve(session.id)).toMatchObject({ status: 'completed' });
  expect(await payments.retrieve(session.id)).toEqual(paid);
  expect(await available(merchant)).toBe(paid.amount_received);

  const event = await webhookOf(merchant, url, 'payment.completed');
  expect(event).toMatchObject({ type: 'payment.completed', data: { object: { id: paid.id } } });
  expect(await events.retrieve(event.id)).toEqual(event);

  const { trc20 } = await testHelpers.addresses();
  const refund = await refunds.create({ payment_id: paid.id, address: trc20.succeed, reason: 'Sold out' });
  expect(refund).toMatchObject({ amount: paid.amount_received, currency: 'USDT', network: 'trc20' });
  const news = await webhookOf(merchant, url, 'refund.succeeded');
  expect(news.data.object).toEqual(await refunds.retrieve(refund.refund_id));
  expect(await payments.retrieve(paid.id)).toMatchObject({ amount_refunded: paid.amount_received });
  expect(await available(merchant)).toBe(0);
});

test('a session that nobody pays expires; what comes too late and too little is accepted', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const { checkout, payments, testHelpers } = merchant.sdk;
  const session = await checkout.sessions.create({ amount: 10_000_000n, currency: 'USDT', expires_in: 300 });
  await testHelpers.advanceClock(301);
  expect(await checkout.sessions.retrieve(session.id)).toMatchObject({ status: 'expired' });
  const option = { currency: 'USDT', network: 'spl' } as const;
  const late = await testHelpers.checkout.sessions.pay(session.id, { ...option, amount: '9.00' });
  expect(late).toMatchObject({ status: 'expired', amount_received: 9_000_000 });
  expect(await available(merchant)).toBe(0);
  expect(await payments.accept(session.payment_id)).toMatchObject({ status: 'completed' });
  expect(await available(merchant)).toBe(9_000_000);
});

test('a payer opens a link, says how much, chooses on the page, pays; the shop learns which link it was', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const { paymentLinks, webhookEndpoints } = merchant.sdk;
  const { url } = await webhookEndpoints.create({ url: 'https://counter.example/paid' });
  const link = await paymentLinks.create({ open: true, currency: 'USDT', description: 'Tips' });
  const { status, target = '' } = await payer(service, link.url).pay('12.50');
  expect(status).toBe(303);
  const page = await (await fetch(target)).text();
  expect(page).toContain('12.50');
  const send = (path: string, fields: Record<string, string>) =>
    fetch(target + path, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  expect((await send('', { option: 'USDT:trc20' })).status).toBe(303);
  expect((await send('/simulate', { action: 'exact' })).status).toBe(303);

  const event = await webhookOf(merchant, url, 'payment.completed');
  expect(event.data.object).toMatchObject({
    amount: 12_500_000,
    currency: 'USDT',
    amount_received: 12_500_000,
    metadata: { payment_link: link.id },
  });
  expect(await available(merchant)).toBe(12_500_000);
});
