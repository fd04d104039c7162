import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { MAIL_SETTINGS } from '../../packages/server/src/mail/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { shop, TOKEN } from '../refunds/requests.ts';
import { startService, type TestService } from '../service.ts';

const FUNDS = 1_000n * BigInt(TOKEN);
const ADA = 'ada@example.com';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

/** Waits for a mail of that kind to an address. */
async function mailOf(
  { merchant }: Awaited<ReturnType<typeof shop>>,
  kind: 'receipt' | 'refund_claim' | 'refund_sent' | 'refund_paid',
) {
  const find = async () => (await merchant.sdk.mails.list({ kind, to: ADA })).data;
  await expect.poll(find, { timeout: 30_000 }).toHaveLength(1);
  const [found] = await find();
  return await merchant.sdk.mails.retrieve(found?.id ?? '');
}

test('a payer gets a receipt, the link of a refund, and word of its way, each once', async () => {
  const calls = await shop(service, { funds: FUNDS });
  const order = { customer_email: ADA, order_id: 'A-17', description: 'Two pots of <b>honey</b>' };
  const payment = await calls.paid({}, order);
  const receipt = await mailOf(calls, 'receipt');
  expect(receipt).toMatchObject({ to: ADA, about: payment.id, status: 'caught', language: 'en' });
  expect(receipt.subject).toContain('receipt');
  expect(receipt.text).toContain('Order: A-17');
  expect(receipt.text).toContain('Two pots of <b>honey</b>');
  expect(receipt.html).toContain('Two pots of &lt;b>honey&lt;/b>');
  expect(receipt.text).toContain('no real money moves');
  const [pageUrl = ''] = /http:\/\/127[^\s]+\/checkout\/\S+/.exec(receipt.text ?? '') ?? [];
  expect((await fetch(pageUrl)).status).toBe(200);

  const refund = await calls.refund({ refund_id: 'A-17-r1', payment_id: payment.id });
  const asked = await mailOf(calls, 'refund_claim');
  expect(asked).toMatchObject({ about: 'A-17-r1' });
  expect(asked.text).toContain(refund.claim_url);
  expect(await (await fetch(pageUrl)).text()).toContain('<dt>Refund on its way</dt>');
  const { erc20 } = await calls.merchant.sdk.testHelpers.addresses();
  await calls.claim('A-17-r1', erc20.succeed);
  expect((await calls.ended('A-17-r1')).status).toBe('succeeded');
  expect((await mailOf(calls, 'refund_sent')).text).toContain(erc20.succeed);
  const paid = await mailOf(calls, 'refund_paid');
  expect(paid.text).toContain((await calls.read('A-17-r1')).tx_id);
  // The page that the mail leads to says it, too.
  const page = await (await fetch(pageUrl)).text();
  expect(page).toContain('<dt>Refunded</dt>');
  expect(page).not.toContain('<dt>Refund on its way</dt>');
  const all = (await calls.merchant.sdk.mails.list({ limit: 100 })).data.map(({ kind }) => kind);
  expect(all.toSorted()).toEqual(['receipt', 'refund_claim', 'refund_paid', 'refund_sent']);
});

test('a payer who pays twice gets a receipt of all that came, with what was too much', async () => {
  const calls = await shop(service, { funds: FUNDS });
  const { id } = await calls.open({ customer_email: ADA, amount: 7 * TOKEN, currency: 'USDT' });
  await calls.pay(id);
  const first = await mailOf(calls, 'receipt');
  expect(first.text).toContain('7.00 USDT');
  expect(first.text).not.toContain('Paid too much');
  await calls.pay(id, { amount: 7 * TOKEN });
  const receipts = async () => (await calls.merchant.sdk.mails.list()).data;
  await expect.poll(async () => (await receipts()).length, { timeout: 60_000 }).toBe(2);
  const [newest] = await receipts();
  const { text } = await calls.merchant.sdk.mails.retrieve(newest?.id ?? '');
  expect(text).toContain('received your payment of 14.00 USDT');
  expect(text).toContain('Paid too much: 7.00 USDT');
});

test('without an address there is no mail, and a kind that is switched off is not made', async () => {
  const calls = await shop(service, { funds: FUNDS });
  await writeSetting(service.app.db, calls.merchant.merchantId, MAIL_SETTINGS.off, ['receipt']);
  await calls.paid({});
  const payment = await calls.paid({}, { customer_email: ADA });
  await calls.refund({ refund_id: 'r', payment_id: payment.id });
  await mailOf(calls, 'refund_claim');
  expect((await calls.merchant.sdk.mails.list()).data).toHaveLength(1);
});

test('a payer who reads the page in Arabic gets the receipt in Arabic', async () => {
  const calls = await shop(service, { funds: FUNDS });
  const session = await calls.open({ customer_email: ADA, amount: 7 * TOKEN, currency: 'USDT' });
  const form = new URLSearchParams({ option: 'USDT:erc20' });
  await fetch(`${session.url}?lang=ar`, { method: 'POST', body: form, redirect: 'manual' });
  await calls.pay(session.id, { currency: 'USDT', network: 'erc20' });
  const receipt = await mailOf(calls, 'receipt');
  expect(receipt.language).toBe('ar');
  expect(receipt.html).toContain('dir="rtl"');
  expect(receipt.subject).toMatch(/\p{Script=Arabic}/u);
});
