import { PAYMENT_EXCEPTIONS } from '@florin/contract/schemas';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { all } from '../refunds/requests.ts';
import { BLOCKS_BY_HAND, startService, type TestMerchant, type TestService } from '../service.ts';
import { checkout, eventTypesOf, TOKEN } from './requests.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true, simchainTiming: BLOCKS_BY_HAND });
});
afterEach(async () => {
  await expectLedgerWhole(service);
  for (const merchant of merchants.splice(0)) await expectListedByExceptions(merchant);
});
afterAll(() => service.stop());

/** Those of the present test. */
const merchants: TestMerchant[] = [];

/** The list finds by each exception what shows it, and nothing else. */
async function expectListedByExceptions({ sdk }: TestMerchant): Promise<void> {
  const { data } = await sdk.payments.list({ limit: 100 }).page();
  for (const exception of PAYMENT_EXCEPTIONS) {
    const found = await sdk.payments.list({ limit: 100, exception }).page();
    const shown = data.filter(({ exceptions }) => exceptions.includes(exception));
    expect([exception, found.data.map(({ id }) => id)]).toEqual([exception, shown.map(({ id }) => id)]);
  }
}

async function shop() {
  const merchant = await service.createMerchant({ funds: 0n });
  merchants.push(merchant);
  return { merchant, ...checkout(service, merchant) };
}
async function balance(merchant: TestMerchant, currency = 'USDT') {
  const { data } = await merchant.sdk.balances.retrieve();
  const row = data.find((one) => one.currency === currency);
  return { available: row?.available, held: row?.held, seized: row?.seized };
}

test('K1: a payer pays exactly: seen is processing, final is completed and available, once', async () => {
  const { merchant, open, pay, payment, session, chain } = await shop();
  const made = await open({ order_id: 'A-1', metadata: { cart: 7 } });
  expect(made).toMatchObject({
    object: 'checkout.session',
    status: 'open',
    order_id: 'A-1',
    metadata: { cart: 7 },
  });
  const seen = await pay(made.id, { final: false });
  expect(seen).toMatchObject({ status: 'processing', amount_received: 0, exceptions: [] });
  expect(seen.transactions).toMatchObject([
    { kind: 'counted', status: 'seen', amount: 100 * TOKEN, final_at: null },
  ]);
  expect(await balance(merchant)).toEqual({ available: 0, held: 0, seized: 0 });
  await chain('erc20', { mine: 3 });
  await merchant.sdk.testHelpers.advanceClock(1);
  const paid = await payment(made.payment_id);
  expect(paid).toMatchObject({
    status: 'completed',
    pay_currency: 'USDT',
    network: 'erc20',
    pay_amount: 100 * TOKEN,
    exchange_rate: '1',
    amount_received: 100 * TOKEN,
    exceptions: [],
  });
  expect(paid.transactions[0]).toMatchObject({
    status: 'final',
    confirmations: 3,
    required_confirmations: 3,
  });
  expect(await session(made.id)).toMatchObject({ status: 'completed', completed_at: paid.completed_at });
  expect(await balance(merchant)).toEqual({ available: 100 * TOKEN, held: 0, seized: 0 });
  expect(await eventTypesOf(merchant, paid.id)).toEqual(['payment.completed']);
});

test('K3: parts add up; earlier parts are held; the rest completes the payment', async () => {
  const { merchant, open, pay, payment } = await shop();
  const made = await open();
  expect(await pay(made.id, { amount: 40 * TOKEN })).toMatchObject({
    status: 'pending',
    exceptions: ['underpaid'],
  });
  expect(await balance(merchant)).toEqual({ available: 0, held: 40 * TOKEN, seized: 0 });
  expect(await pay(made.id)).toMatchObject({
    status: 'completed',
    amount_received: 100 * TOKEN,
    exceptions: [],
  });
  expect(await pay(made.id, { amount: 7 * TOKEN })).toMatchObject({ exceptions: ['overpaid'] });
  expect(await balance(merchant)).toEqual({ available: 107 * TOKEN, held: 0, seized: 0 });
  expect((await payment(made.payment_id)).transactions.length).toBe(3);
});

test('K3: late money completes within a day by itself, after a cancel it waits for the merchant', async () => {
  const { merchant, open, pay, cancelSession, accept, session } = await shop();
  const late = await open({ expires_in: 300 });
  await merchant.sdk.testHelpers.advanceClock(400);
  expect(await session(late.id)).toMatchObject({ status: 'expired' });
  expect(await pay(late.id, { amount: 100 * TOKEN })).toMatchObject({
    status: 'completed',
    exceptions: ['late'],
  });

  const canceled = await open();
  expect(await cancelSession(canceled.id)).toMatchObject({ status: 'canceled' });
  expect(await pay(canceled.id)).toMatchObject({ status: 'cancelled', exceptions: ['canceled'] });
  expect(await balance(merchant)).toEqual({ available: 100 * TOKEN, held: 100 * TOKEN, seized: 0 });
  expect(await accept(canceled.payment_id)).toMatchObject({ status: 'completed' });
  expect(await balance(merchant)).toEqual({ available: 200 * TOKEN, held: 0, seized: 0 });
  expect(await eventTypesOf(merchant, late.payment_id)).toEqual(['payment.expired', 'payment.completed']);
});

test('K4: another token is held and shown, and can be accepted; an unlisted one is only shown', async () => {
  const { merchant, open, pay, accept } = await shop();
  const made = await open();
  const wrong = await pay(made.id, { currency: 'USDC', amount: 30 * TOKEN });
  expect(wrong).toMatchObject({ status: 'pending', amount_received: 0, exceptions: ['wrong_token'] });
  expect(await balance(merchant, 'USDC')).toEqual({ available: 0, held: 30 * TOKEN, seized: 0 });
  const fake = await pay(made.id, { token: 'fake', amount: 5 * TOKEN, final: false });
  expect(new Map(fake.transactions.map(({ kind, currency }) => [kind, currency]))).toEqual(
    new Map<string, string | null>([
      ['wrong_token', 'USDC'],
      ['unlisted', null],
    ]),
  );
  const taken = await accept(made.payment_id, { tx_id: wrong.transactions[0]?.tx_id });
  expect(taken).toMatchObject({ status: 'pending' });
  const news = await all(merchant.sdk.events.list({ resource: made.payment_id, type: 'payment.updated' }));
  expect(news[0]?.data).toMatchObject({ object: taken, previous_attributes: {} });
  expect(await balance(merchant, 'USDC')).toEqual({ available: 30 * TOKEN, held: 0, seized: 0 });
  expect(await pay(made.id)).toMatchObject({ status: 'completed' });
});

test('a sanctioned sender freezes the payment; its money is seized and cannot be spent', async () => {
  const { merchant, open, pay, call, post } = await shop();
  const made = await open();
  expect(await pay(made.id, { from: 'sanctioned' })).toMatchObject({ status: 'frozen', amount_received: 0 });
  expect(await balance(merchant)).toEqual({ available: 0, held: 0, seized: 100 * TOKEN });
  expect((await post(`/payment/${made.payment_id}/accept`)).status).toBe(400);
  expect((await post(`/checkout/sessions/${made.id}/cancel`)).status).toBe(400);
  expect((await call(`/checkout/sessions/${made.id}`)).json).toMatchObject({ status: 'frozen' });
  expect(await eventTypesOf(merchant, made.payment_id)).toEqual(['payment.failed']);
});

/** A payment that is seen and vanishes again. */
async function vanishedPayment({ merchant, open, pay, chain }: Awaited<ReturnType<typeof shop>>) {
  const made = await open();
  await pay(made.id, { final: false });
  await chain('erc20', { reorg: 2 });
  await merchant.sdk.testHelpers.advanceClock(1);
  return made;
}

test('fault 48, K1: a reorganisation removes seen money, and other money pays', async () => {
  const own = await shop();
  const made = await vanishedPayment(own);
  expect(await own.payment(made.payment_id)).toMatchObject({
    status: 'pending',
    amount_received: 0,
    transactions: [{ status: 'gone' }],
  });
  await own.pay(made.id, { final: false });
  await own.chain('erc20', { reorg: 2, remine: true });
  await own.chain('erc20', { mine: 2 });
  await own.merchant.sdk.testHelpers.advanceClock(10);
  const paid = await own.payment(made.payment_id);
  expect(paid).toMatchObject({ status: 'completed', amount_received: 100 * TOKEN });
  expect(paid.transactions.map(({ status }) => status).toSorted()).toEqual(['final', 'gone']);
  expect((await eventTypesOf(own.merchant, made.payment_id)).at(-1)).toBe('payment.completed');
});

test('fault 48: an option that lost all of its money is no longer fixed: another can be paid', async () => {
  const own = await shop();
  const { id } = await vanishedPayment(own);
  const paid = await own.pay(id, { network: 'spl' });
  expect(paid).toMatchObject({ status: 'completed', network: 'spl', amount_received: 100 * TOKEN });
  expect(paid.exceptions).toEqual([]);
});

test('return URLs may use http on loopback addresses in the sandbox only', async () => {
  const { post, open } = await shop();
  for (const host of ['localhost:3000', 'shop.localhost', '127.0.0.1', '127.8.9.10:81', '[::1]:3000'])
    expect(await open({ success_url: `http://${host}/thanks` })).toMatchObject({ status: 'open' });
  for (const host of ['127.0.0.1.example.com', 'localhost.example.com', '10.0.0.1', '128.0.0.1']) {
    const body = { amount: 1, currency: 'USD', cancel_url: `http://${host}/` };
    expect((await post('/checkout/sessions/create', body)).status, host).toBe(400);
  }
});

test('fault 67: a payment with seen money does not expire before that is decided; an outage blocks expiry', async () => {
  const { merchant, open, pay, session, chain } = await shop();
  const made = await open({ expires_in: 300 });
  await pay(made.id, { amount: TOKEN });
  await chain('erc20', { outage_seconds: 600 });
  await merchant.sdk.testHelpers.advanceClock(400);
  expect(await session(made.id)).toMatchObject({ status: 'open' });
  await merchant.sdk.testHelpers.advanceClock(300);
  expect(await session(made.id)).toMatchObject({ status: 'expired' });
});

test('B1: one idempotency key creates one session; other parameters are a conflict', async () => {
  const { open, post } = await shop();
  const key = { 'idempotency-key': 'order 7' };
  const [first, second] = await Promise.all([open({}, key), open({}, key)]);
  expect(second).toEqual(first);
  const other = await post('/checkout/sessions/create', { amount: 1, currency: 'USDT' }, key);
  expect([other.status, (other.json as { error: { code: string } }).error.code]).toEqual([409, 'conflict']);
});
