import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIL_SETTINGS } from '../../packages/server/src/mail/index.ts';
import { REFUND_SETTINGS } from '../../packages/server/src/refunds/settings.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { bodyOf, caller, configure } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

const PEOPLE = ['ada@shop.example', 'ops@shop.example'];
const WAIT = { timeout: 60_000 };

let service: TestService;
let isReceiving = true;

beforeAll(async () => {
  const receive = async () =>
    isReceiving
      ? { failure: null, status: 200, response: Buffer.from('') }
      : { failure: null, status: 500, response: Buffer.from('broken') };
  service = await startService({ worker: true, receive });
});
afterAll(() => service.stop());

/** A merchant whose people hear of things. */
async function attentive(): Promise<TestMerchant> {
  const merchant = await service.createMerchant();
  await writeSetting(service.app.db, merchant.merchantId, MAIL_SETTINGS.notify, PEOPLE);
  return merchant;
}

const mailsOf = async ({ sdk }: TestMerchant) =>
  (await sdk.mails.list({ limit: 100 })).data
    .map(({ kind, to, about }) => `${kind} ${to} ${about}`)
    .toSorted();
/** The pages of a merchant's store in the console. */
const pageOf = ({ merchantId, storeId }: TestMerchant) =>
  `/console/${encodeId('merchant', merchantId)}/${encodeId('store', storeId)}`;
const toPeople = (kind: string, about: string) => PEOPLE.map((to) => `${kind} ${to} ${about}`);

test("a batch that waits for approval and one with failed items are mailed to the merchant's people", async () => {
  const merchant = await attentive();
  await configure(service, merchant, { approvalAbove: '5.00' });
  const calls = caller(service, merchant);
  const { json: waiting } = await calls.create(bodyOf(['9.00']));
  await calls.submit(String(waiting.batch_id));
  expect(await mailsOf(merchant)).toEqual(toPeople('payout_waiting', String(waiting.batch_id)));
  const [mail] = (await merchant.sdk.mails.list()).data;
  const { text, html } = await merchant.sdk.mails.retrieve(mail?.id ?? '');
  expect(text).toContain(`florin payouts approve ${String(waiting.batch_id)}`);
  expect(text).toContain('Recipients: 1. Approvals needed: 1.');
  expect(text).toContain('gave this address for its own notices');
  expect(text).not.toContain('your purchase');
  expect(text).toContain(`${pageOf(merchant)}/payouts/${String(waiting.batch_id)}`);
  expect(html).toContain('9.00\u00a0USDT');

  const failing = await attentive();
  const others = caller(service, failing);
  const { json: batch } = await others.create(bodyOf(['1.00'], { to: 'fail' }));
  await others.submit(String(batch.batch_id));
  await expect
    .poll(async () => {
      await failing.sdk.testHelpers.advanceClock(10);
      return await mailsOf(failing);
    }, WAIT)
    .toEqual(toPeople('payout_failed', String(batch.batch_id)));
});

test('a refund that waits for approval is mailed once: when it is made, or when its payer has said where it goes', async () => {
  const merchant = await attentive();
  await writeSetting(service.app.db, merchant.merchantId, REFUND_SETTINGS.approvalAbove, '1.00');
  const { checkout, refunds, testHelpers, mails } = merchant.sdk;
  const { erc20 } = await testHelpers.addresses();
  const session = await checkout.sessions.create({ amount: 9_000_000n, currency: 'USDT' });
  await testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
  const refund = { payment_id: session.payment_id, currency: 'USDT', address: erc20.succeed } as const;
  await refunds.create({ ...refund, refund_id: 'small', amount: 1_000_000n });
  expect(await mailsOf(merchant)).toEqual([]);
  await refunds.create({ ...refund, refund_id: 'A-17', amount: 2_000_000n });
  await refunds.create({ ...refund, refund_id: 'A-17', amount: 2_000_000n });
  expect(await mailsOf(merchant)).toEqual(toPeople('refund_waiting', 'A-17'));
  const [mail] = (await mails.list()).data;
  const { subject, text } = await mails.retrieve(mail?.id ?? '');
  expect(subject).toBe('A refund of 2.00 USDT waits for approval');
  expect(text).toContain(`${pageOf(merchant)}/refunds/A-17`);
  const { address: _, ...unaddressed } = refund;
  await refunds.create({ ...unaddressed, refund_id: 'claimed', amount: 3_000_000n });
  expect(await mailsOf(merchant)).toEqual(toPeople('refund_waiting', 'A-17'));
  await testHelpers.refunds.claim('claimed', erc20.succeed);
  expect(await mailsOf(merchant)).toEqual(
    [...toPeople('refund_waiting', 'A-17'), ...toPeople('refund_waiting', 'claimed')].toSorted(),
  );
});

test('the third failure of an endpoint in a row is mailed once', async () => {
  const merchant = await attentive();
  const endpoint = await merchant.sdk.webhookEndpoints.create({ url: 'https://shop.invalid/hooks' });
  const cancelOne = async () => {
    const { id } = await merchant.sdk.checkout.sessions.create({ amount: 100n, currency: 'USD' });
    await merchant.sdk.checkout.sessions.cancel(id);
  };
  const failures = async () =>
    (
      await service.app.db
        .selectFrom('webhook_endpoint')
        .select('failures')
        .where('merchant_id', '=', merchant.merchantId)
        .executeTakeFirstOrThrow()
    ).failures;
  isReceiving = false;
  for (const failed of [1, 2]) {
    await cancelOne();
    await expect.poll(failures, WAIT).toBe(failed);
  }
  expect(await mailsOf(merchant)).toEqual([]);
  for (const failed of [3, 4]) {
    await cancelOne();
    await expect.poll(failures, WAIT).toBe(failed);
  }
  isReceiving = true;
  await expect.poll(() => mailsOf(merchant), WAIT).toEqual(toPeople('endpoint_failing', endpoint.id));
  const [mail] = (await merchant.sdk.mails.list()).data;
  expect((await merchant.sdk.mails.retrieve(mail?.id ?? '')).text).toContain('https://shop.invalid/hooks');
});

test('mails of a subscription are in the language of its pages, which a program that opens a link does not change', async () => {
  const merchant = await service.createMerchant();
  const { subscriptions, testHelpers, portal, mails } = merchant.sdk;
  const recurring = { interval: 'month' } as const;
  const made = await subscriptions.create({
    customer: 'ada',
    customer_email: 'ada@example.com',
    currency: 'USD',
    items: [{ price_data: { currency: 'USD', product: 'Gold', unit_amount: 1_000, recurring } }],
  });
  const url = made.checkout_url ?? '';
  const read = async (address: string, language: string) =>
    expect((await fetch(address, { headers: { 'accept-language': language } })).status).toBe(200);
  const subjectOf = async (kind: string) => {
    const found = (await mails.list({ limit: 100 })).data.find((mail) => mail.kind === kind);
    return found === undefined ? '' : (await mails.retrieve(found.id)).subject;
  };
  await read(url, 'de-DE,de;q=0.9');
  await read(url, 'en');
  await testHelpers.subscriptions.authorize(made.id, { currency: 'USDT', network: 'erc20' });
  await expect.poll(() => subjectOf('subscription_begun'), WAIT).toMatch(/^Ihr Abonnement/);
  await expect.poll(() => subjectOf('receipt'), WAIT).toMatch(/^Ihr Beleg/);
  const session = await portal.sessions.create({ customer: 'ada', return_url: 'https://shop.example/' });
  await read(`${session.url}?lang=es`, 'de');
  await subscriptions.cancel(made.id);
  await expect.poll(() => subjectOf('subscription_canceled'), WAIT).toMatch(/^Su suscripción/);
});

test('a customer hears of the beginning, a failed payment and the end of a subscription, once each', async () => {
  const merchant = await service.createMerchant();
  const { subscriptions, testHelpers } = merchant.sdk;
  const price_data = {
    currency: 'USD',
    product: 'Gold',
    unit_amount: 1_000,
    recurring: { interval: 'month' },
  } as const;
  const made = await subscriptions.create({
    customer: 'ada',
    customer_email: 'ada@example.com',
    currency: 'USD',
    items: [{ price_data }],
  });
  const mails = () => mailsOf(merchant);
  await testHelpers.subscriptions.authorize(made.id, {
    currency: 'USDT',
    network: 'erc20',
    balance: '10.50',
  });
  const begun = `subscription_begun ada@example.com ${made.id}`;
  await expect.poll(async () => (await mails()).includes(begun), WAIT).toBe(true);
  const failed = `payment_failed ada@example.com ${made.id}`;
  await expect
    .poll(async () => {
      await testHelpers.advanceClock(3 * 86_400);
      return (await mails()).includes(failed);
    }, WAIT)
    .toBe(true);
  const [mail] = (await merchant.sdk.mails.list({ kind: 'payment_failed' })).data;
  const { text } = await merchant.sdk.mails.retrieve(mail?.id ?? '');
  const [, url = ''] = /Pay now:\n(\S+)/.exec(text ?? '') ?? [];
  expect((await fetch(url)).status).toBe(200);
  await subscriptions.cancel(made.id);
  const ended = `subscription_canceled ada@example.com ${made.id}`;
  await expect.poll(async () => (await mails()).filter((one) => one === ended).length, WAIT).toBe(1);
  expect((await mails()).filter((one) => one === begun || one === failed)).toHaveLength(2);
});
