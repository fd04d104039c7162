import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { shop, TOKEN } from '../refunds/requests.ts';
import { startService, type TestService } from '../service.ts';
import { billing } from '../subscriptions/billing.ts';

const ADA = 'ada@example.com';
const WAIT = { timeout: 60_000 };

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

type Shop = Awaited<ReturnType<typeof shop>>;

/** The kinds of all mails, oldest first. */
const kindsOf = async ({ merchant }: Pick<Shop, 'merchant'>) =>
  (await merchant.sdk.mails.list({ limit: 100 })).data.map(({ kind }) => kind).toReversed();

/** The newest mail, once these kinds of mails were made. */
async function mailAfter(calls: Pick<Shop, 'merchant'>, kinds: string[]) {
  await expect.poll(() => kindsOf(calls), WAIT).toEqual(kinds);
  const [newest] = (await calls.merchant.sdk.mails.list()).data;
  return await calls.merchant.sdk.mails.retrieve(newest?.id ?? '');
}

const PRICE = { customer_email: ADA, amount: 10 * TOKEN, currency: 'USDT' };

test('who pays too little is told what is missing and where to pay it, and gets the receipt afterwards', async () => {
  const calls = await shop(service);
  const { id } = await calls.open({ ...PRICE, order_id: 'A-17' });
  await calls.pay(id, { amount: 4 * TOKEN });
  const first = await mailAfter(calls, ['payment_underpaid']);
  expect(first.subject).toContain('6.00 USDT of your payment');
  expect(first.text).toContain('4.00 USDT has arrived');
  expect(first.text).toContain('Still missing: 6.00 USDT');
  expect(first.text).toContain('Order: A-17');
  const [, page = ''] = /Pay now:\n(\S+)/.exec(first.text ?? '') ?? [];
  expect(await (await fetch(page)).text()).toContain('6.00');
  await calls.pay(id, { amount: 1 * TOKEN });
  const second = await mailAfter(calls, ['payment_underpaid', 'payment_underpaid']);
  expect(second.text).toContain('Still missing: 5.00 USDT');
  await calls.pay(id);
  const { text: receipt } = await mailAfter(calls, ['payment_underpaid', 'payment_underpaid', 'receipt']);
  const brought = [...(receipt ?? '').matchAll(/0x\w+ \((\S+) USDT\)/g)].map(([, amount]) => amount);
  expect(new Set(brought)).toEqual(new Set(['1.00', '4.00', '5.00']));
  expect(await (await fetch(page)).text()).toContain('<bdi>5.00\u00a0USDT</bdi>');
});

test('money of a payment that ended before it was complete, and money after that, are told', async () => {
  const calls = await shop(service);
  const { id } = await calls.open({ ...PRICE, expires_in: 300 });
  await calls.pay(id, { amount: 4 * TOKEN });
  await mailAfter(calls, ['payment_underpaid']);
  await calls.merchant.sdk.testHelpers.advanceClock(400);
  const over = await mailAfter(calls, ['payment_underpaid', 'payment_incomplete']);
  expect(over.text).toContain('4.00 USDT arrived, but the payment ended');
  expect(over.text).toContain('Please do not send more');
  await calls.pay(id, { amount: 3 * TOKEN });
  const late = await mailAfter(calls, ['payment_underpaid', 'payment_incomplete', 'payment_late']);
  expect(late.subject).toContain('Your 3.00 USDT');
  // The same amount once more is another cause.
  await calls.pay(id, { amount: 2 * TOKEN });
  await mailAfter(calls, ['payment_underpaid', 'payment_incomplete', 'payment_late', 'payment_late']);
});

test('what is final only after the end is not asked to be topped up', async () => {
  const calls = await shop(service);
  const { id } = await calls.open({ ...PRICE, expires_in: 300 });
  await calls.pay(id, { amount: 4 * TOKEN, final: false });
  await calls.merchant.sdk.testHelpers.advanceClock(400);
  const { text } = await mailAfter(calls, ['payment_incomplete']);
  expect(text).toContain('4.00 USDT arrived, but the payment ended');
});

test('dust writes no mails', async () => {
  const calls = await shop(service);
  const { id, payment_id: paymentId } = await calls.open(PRICE);
  await calls.pay(id, { currency: 'USDC', amount: 10 });
  await calls.pay(id, { amount: 10 });
  expect(await calls.payment(paymentId)).toMatchObject({
    amount_received: 10,
    exceptions: ['underpaid', 'wrong_token'],
  });
  await calls.pay(id);
  await mailAfter(calls, ['receipt']);
  await calls.pay(id, { currency: 'USDC', amount: 3 * TOKEN });
  await calls.pay(id, { currency: 'USDC', amount: 4 * TOKEN });
  // Of another token once: the page has each transfer.
  await mailAfter(calls, ['receipt', 'payment_wrong_token']);
});

test('money after a cancel is told, and so is another token, by its transaction', async () => {
  const calls = await shop(service);
  const canceled = await calls.open(PRICE);
  await calls.cancelSession(canceled.id);
  await calls.pay(canceled.id, { amount: 10 * TOKEN });
  const late = await mailAfter(calls, ['payment_late']);
  expect(late.subject).toContain('10.00 USDT');

  const { id } = await calls.open(PRICE);
  const { transactions } = await calls.pay(id, { currency: 'USDC', amount: 5 * TOKEN });
  const wrong = await mailAfter(calls, ['payment_late', 'payment_wrong_token']);
  expect(wrong.subject).toMatch(/received 5.00 USDC instead of USD[TC]/);
  expect(wrong.text).toContain(`Transaction: ${transactions[0]?.tx_id}`);
  // Tokens that nobody lists are no money, and whoever sends them writes no mails with them.
  await calls.pay(id, { token: 'fake', amount: 5 * TOKEN, final: false });
  await calls.pay(id, { amount: 10 * TOKEN });
  await mailAfter(calls, ['payment_late', 'payment_wrong_token', 'receipt']);
});

test('a suspended merchant does not ask for the rest', async () => {
  const calls = await shop(service);
  const { id } = await calls.open(PRICE);
  await calls.pay(id, { amount: 4 * TOKEN, final: false });
  const { merchantId } = calls.merchant;
  await setMerchantStatus(service.app, merchantId, 'suspended');
  const rows = async (of: string) => await asOwner(service, of, [merchantId]);
  const received = () => rows('select received_amount::text from payment where merchant_id = $1');
  await expect.poll(received, WAIT).toEqual([{ received_amount: String(4 * TOKEN) }]);
  const waiting = () => rows("select kind from job where merchant_id = $1 and kind = 'mail.payment_notice'");
  await expect.poll(waiting, WAIT).toEqual([]);
  await setMerchantStatus(service.app, merchantId, 'active');
  expect(await kindsOf(calls)).toEqual([]);
  await calls.pay(id);
  await mailAfter(calls, ['receipt']);
});

test('whoever leaves hears at once until when the subscription lasts, and of its end once it is over', async () => {
  const merchant = await service.createMerchant();
  const calls = billing(service, merchant);
  const { id } = await calls.make({ customer_email: ADA });
  await calls.authorize(id, { balance: 60_000_000 });
  await expect.poll(() => kindsOf({ merchant }), WAIT).toContain('receipt');
  await calls.cancel(id, { cancel_at_period_end: true });
  const ofKind = async (kind: 'subscription_ending' | 'subscription_canceled') =>
    (await merchant.sdk.mails.list({ kind })).data;
  await expect.poll(async () => (await ofKind('subscription_ending')).length, WAIT).toBe(1);
  const [mail] = await ofKind('subscription_ending');
  const { text, about } = await merchant.sdk.mails.retrieve(mail?.id ?? '');
  expect(about).toBe(id);
  const { cancel_at: endsAt } = await merchant.sdk.subscriptions.retrieve(id);
  const day = new Date(Number(endsAt) * 1000).getUTCDate();
  expect(text).toMatch(new RegExp(`It stays yours until .*\\b${day}\\b.* and is not renewed`));
  await merchant.sdk.testHelpers.advanceClock(40 * 86_400);
  await expect.poll(async () => (await ofKind('subscription_canceled')).length, WAIT).toBe(1);
  expect(await ofKind('subscription_ending')).toHaveLength(1);
});
