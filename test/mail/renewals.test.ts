import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIL_SETTINGS } from '../../packages/server/src/mail/index.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { stopNetwork } from '../../packages/server/src/transfers/blocks/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { billing, DAY, HOUR } from '../subscriptions/billing.ts';

const WAIT = { timeout: 60_000 };
const ADA = 'ada@example.com';
const OPS = 'ops@shop.example';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.stop());

const ofKind = async ({ sdk }: TestMerchant, kind: 'receipt' | 'renewal_short' | 'network_stopped') => {
  const { data } = await sdk.mails.list({ kind });
  return await Promise.all(data.map(({ id }) => sdk.mails.retrieve(id)));
};

/** A subscription of 20.00 USD a month, begun with that much in its wallet. */
async function begun(balance: number, customer_email: string | null = ADA) {
  const merchant = await service.createMerchant();
  const calls = billing(service, merchant);
  const { id } = await calls.make({ ...(customer_email !== null && { customer_email }) });
  await calls.authorize(id, { balance });
  const status = async () => (await calls.read(id)).status;
  await expect.poll(status, WAIT).toBe('active');
  return { merchant, calls, id };
}

/** Moves the clock to so many seconds before the end of the period: months differ in length. */
async function untilBeforeEnd(
  { calls, id }: Pick<Awaited<ReturnType<typeof begun>>, 'calls' | 'id'>,
  before: number,
) {
  const { now } = (await calls.call('/test_helpers/clock')).json as { now: number };
  await calls.advance(((await calls.read(id)).current_period_end ?? 0) - before - now);
}

test('each charge of a subscription has a receipt, with its transaction', async () => {
  const { merchant, calls, id } = await begun(60_000_000);
  await expect.poll(async () => (await ofKind(merchant, 'receipt')).length, WAIT).toBe(1);
  await calls.advance(32 * DAY);
  await expect.poll(async () => (await ofKind(merchant, 'receipt')).length, WAIT).toBe(2);
  const charged = await calls.invoices(id);
  const receipts = await ofKind(merchant, 'receipt');
  expect(new Set(receipts.map(({ about }) => about)).size).toBe(charged.length);
  for (const { text, to } of receipts) {
    expect(to).toBe(ADA);
    expect(text).toContain('Amount: 20.00 USDT');
    expect(text).toMatch(/Transaction: \S{20,}/);
    expect(text).toMatch(/View the subscription:\n\S+\/subscribe\//);
  }
});

test('3 days before a renewal that its wallet cannot pay, the customer is told, once', async () => {
  const { merchant, calls, id } = await begun(30_000_000);
  await untilBeforeEnd({ calls, id }, 3 * DAY + HOUR);
  expect(await ofKind(merchant, 'renewal_short')).toEqual([]);
  await calls.advance(2 * HOUR);
  await expect.poll(async () => (await ofKind(merchant, 'renewal_short')).length, WAIT).toBe(1);
  const [mail] = await ofKind(merchant, 'renewal_short');
  expect(mail).toMatchObject({ to: ADA, about: id });
  const end = (await calls.read(id)).current_period_end;
  const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }).format(
    (end ?? 0) * 1000,
  );
  expect(mail?.text).toContain(day);
  expect(mail?.text).toContain('$20.00');
});

test('a renewal that its wallet can pay is not announced, and one without an address neither', async () => {
  const paying = await begun(60_000_000);
  const silent = await begun(30_000_000, null);
  for (const one of [paying, silent]) await untilBeforeEnd(one, DAY);
  const jobs = async ({ merchant: { merchantId } }: typeof paying) =>
    await service.app.db
      .selectFrom('job')
      .select('job_id')
      .where('merchant_id', '=', merchantId)
      .where('kind', '=', 'subscriptions.renewal_mail')
      .execute();
  await expect.poll(() => jobs(paying), WAIT).toEqual([]);
  expect(await jobs(silent)).toEqual([]);
  expect(await ofKind(paying.merchant, 'renewal_short')).toEqual([]);
});

test('a network that stops for real money is told to every live merchant, one of a sandbox to its own', async () => {
  const { app } = service;
  const live = await Promise.all(
    ['A', 'B'].map(async (name) => {
      const { merchantId } = await stores.createMerchant(app, {
        name: `${name} ${randomUUID()}`,
        mode: 'live',
      });
      await stores.createStore(app, { merchantId, name, channelType: 'api' });
      await writeSetting(app.db, merchantId, MAIL_SETTINGS.notify, [OPS]);
      return merchantId;
    }),
  );
  const [own, other] = [await service.createMerchant(), await service.createMerchant()];
  for (const { merchantId } of [own, other])
    await writeSetting(app.db, merchantId, MAIL_SETTINGS.notify, [OPS]);
  const stop = (owner: Parameters<typeof stopNetwork>[1]) =>
    transact(app.db, (tx) =>
      stopNetwork(tx, owner, 'erc20', {
        what: 'sending',
        reason: 'block 7 was replaced',
        nowSeconds: app.clock.nowSeconds(),
        nowMs: app.clock.nowMs(),
      }),
    );
  await stop({ merchantId: own.merchantId, mode: 'sandbox' });
  await stop({ merchantId: live[0] ?? '', mode: 'live' });
  await stop({ merchantId: live[1] ?? '', mode: 'live' });
  const told = async () =>
    (
      await app.db
        .selectFrom('mail')
        .select('merchant_id')
        .where('kind', '=', 'network_stopped')
        .where('merchant_id', 'in', [...live, own.merchantId, other.merchantId])
        .execute()
    )
      .map((row) => row.merchant_id)
      .toSorted();
  await expect.poll(told, WAIT).toEqual([...live, own.merchantId].toSorted());
  const [mail] = await ofKind(own, 'network_stopped');
  expect(mail).toMatchObject({ to: OPS, about: 'erc20', subject: 'Sending on Ethereum has stopped' });
  expect(mail?.text).toContain('block 7 was replaced');
  expect(mail?.text).toContain('florin networks resume erc20');
  // Live merchants share the chains: the second stop found the first.
  await transact(app.db, (tx) => tx.deleteFrom('network_stop').execute());
});

test('a kind is switched off for a store, whose other kinds go on', async () => {
  const merchant = await service.createMerchant();
  const calls = billing(service, merchant);
  const row = await service.app.db
    .selectFrom('store')
    .select('store_id')
    .where('merchant_id', '=', merchant.merchantId)
    .executeTakeFirstOrThrow();
  const store = encodeId('store', row.store_id);
  await writeSetting(service.app.db, merchant.merchantId, MAIL_SETTINGS.off, [`${store}:subscription_begun`]);
  const { id } = await calls.make({ customer_email: ADA });
  await calls.authorize(id, { balance: 60_000_000 });
  await expect.poll(async () => (await ofKind(merchant, 'receipt')).length, WAIT).toBe(1);
  await calls.cancel(id);
  const kinds = async () =>
    (await merchant.sdk.mails.list({ limit: 100 })).data.map(({ kind }) => kind).toSorted();
  await expect.poll(kinds, WAIT).toEqual(['receipt', 'subscription_canceled']);
});
