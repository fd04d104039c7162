import type { CheckoutView } from '@florin/pages';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { type InvoicePageIds, openInvoicePage } from '../../packages/server/src/checkout/invoice-pages.ts';
import { recordEvents } from '../../packages/server/src/events/index.ts';
import { decideSeizure } from '../../packages/server/src/payments/deposits/decide-seizure.ts';
import { paymentContext } from '../../packages/server/src/payments/deps.ts';
import {
  closeInvoicePage,
  lockInvoicePages,
  repriceInvoicePage,
} from '../../packages/server/src/payments/invoice-pages/invoice-pages.ts';
import { INVOICE_PAGE_CHANGED_JOB } from '../../packages/server/src/payments/invoice-pages/page-changed-job.ts';
import type { PageEnd } from '../../packages/server/src/payments/states.ts';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import { RATE_SETTINGS } from '../../packages/server/src/rates/index.ts';
import { addApprover, listApprovers } from '../../packages/server/src/stores/approvers/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { eventTypesOf, TOKEN } from './requests.ts';
import { type Due, Shop } from './shop.ts';

const HUNDRED = 100 * TOKEN;
const USDT = { currency: 'USDT', network: 'erc20' } as const;
const YEAR = 365 * 86_400;
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const ownerOf = ({ merchant }: Shop) =>
  ({ merchantId: merchant.merchantId, mode: 'sandbox', clockOffset: 0 }) as const;

/** The page of an invoice over 100 USDT, as whoever keeps invoices opens and closes it. */
async function invoice(shop: Shop, over: { amount?: bigint; currency?: string } = {}) {
  const { merchantId, storeId } = shop.merchant;
  const context = () => paymentContext(shop.deps, ownerOf(shop));
  const invoiceId = newId();
  const page = {
    merchantId,
    storeId,
    invoiceId,
    customer: 'payer-1',
    customerEmail: null,
    amount: BigInt(HUNDRED),
    currency: 'USDT',
    description: 'Gold plan',
    periodStart: 1_767_225_600,
    periodEnd: 1_769_904_000,
    successUrl: null,
    cancelUrl: null,
    ...over,
  };
  const opening = await context();
  const opened: InvoicePageIds = await transact(shop.deps.db, (tx) => openInvoicePage(tx, page, opening));
  const key = { merchantId, paymentId: opened.paymentId };
  const session = await shop.api.session(encodeId('checkoutSession', opened.sessionId));
  const close = async (end: PageEnd) => {
    const closing = await context();
    return await transact(shop.deps.db, async (tx) => {
      const changes = await closeInvoicePage(tx, key, end, closing);
      if (changes !== false) await recordEvents(tx, changes);
      return changes !== false;
    });
  };
  const reprice = async (amount: bigint) => {
    const repricing = await context();
    await transact(shop.deps.db, (tx) => repriceInvoicePage(tx, key, amount, repricing));
  };
  const due = async (): Promise<Due> => ({
    session,
    paymentId: session.payment_id,
    address: await shop.choose(session.id, USDT),
  });
  return {
    ...opened,
    invoiceId,
    session,
    close,
    reprice,
    due,
    state: async () => {
      const ids = [opened.paymentId];
      const states = await transact(shop.deps.db, (tx) => lockInvoicePages(tx, merchantId, ids));
      return states.get(opened.paymentId);
    },
    read: () => shop.api.payment(session.payment_id),
    /** What its news would be worth reading for; and forgets it. */
    eventTypes: async () => {
      const rows = await asOwner<{ payload: object }>(
        service,
        'delete from job where merchant_id = $1 and kind = $2 and unique_key = $3 returning payload',
        [merchantId, INVOICE_PAGE_CHANGED_JOB, opened.paymentId],
      );
      return rows.map((row) => row.payload);
    },
  };
}

test('it does not expire: a year later it is paid at a quote of that day, and the invoice is notified', async () => {
  const shop = await Shop.open(service);
  const own = await invoice(shop, { amount: 1_999n, currency: 'USD' });
  expect(own.session).toMatchObject({ status: 'open', expires_at: null, description: 'Gold plan' });
  expect(await own.read()).toMatchObject({
    invoice: encodeId('invoice', own.invoiceId),
    checkout_session: own.session.id,
    expires_at: null,
  });
  const first = await own.due();
  shop.wait(YEAR);
  expect((await own.due()).address).toBe(first.address);
  const [option] = await asOwner<{ ends: string }>(
    service,
    'select quote_ends_at::text as ends from payment_option where payment_id = $1',
    [own.paymentId],
  );
  expect(Number(option?.ends)).toBe(shop.now + 900);
  const amount = BigInt((await own.read()).pay_amount ?? 0);
  await shop.send(first.address, { amount });
  await shop.scan();
  expect(await own.state()).toBe('money');
  expect(await own.eventTypes()).toEqual([{ paymentId: own.paymentId, invoiceId: own.invoiceId }]);
  await shop.settle();
  expect(await own.read()).toMatchObject({ status: 'completed', exceptions: [] });
  expect(await own.eventTypes()).toHaveLength(1);
  expect(await own.state()).toBe('paid');
  expect(await own.close('canceled')).toBe(false);
  expect(await eventTypesOf(shop.merchant, own.session.payment_id)).toEqual(['payment.completed']);
});

test('only its invoice can cancel it', async () => {
  const shop = await Shop.open(service);
  const own = await invoice(shop);
  const answer = await shop.api.post(`/checkout/sessions/${own.session.id}/cancel`);
  expect(answer.status).toBe(400);
  expect(await own.state()).toBe('open');
});

test.each([
  ['paid', 'expired', []],
  ['expired', 'expired', ['payment.expired']],
  ['canceled', 'canceled', ['payment.cancelled']],
] as const)(
  'an invoice that is %s ends its page as %s; later money lies in held and is refundable',
  async (end, status, events) => {
    const shop = await Shop.open(service);
    const own = await invoice(shop);
    const { address } = await own.due();
    expect(await own.close(end)).toBe(true);
    expect(await own.close(end)).toBe(true);
    expect(await shop.api.session(own.session.id)).toMatchObject({ status, expires_at: null });
    shop.wait(60);
    await shop.send(address);
    await shop.settle();
    const exception = end === 'canceled' ? 'canceled' : 'late';
    expect(await own.read()).toMatchObject({ exceptions: [exception], amount_received: HUNDRED });
    expect((await shop.api.session(own.session.id)).status).toBe(status);
    expect(await shop.balance()).toMatchObject({ available: 0, held: HUNDRED });
    expect((await shop.api.post(`/payment/${own.session.payment_id}/accept`)).status).toBe(400);
    expect(await eventTypesOf(shop.merchant, own.session.payment_id)).toEqual(events);
    expect(await own.eventTypes()).toHaveLength(1);
    const refund = await shop.merchant.sdk.refunds.create({
      refund_id: `r-${own.paymentId}`,
      payment_id: own.session.payment_id,
    });
    expect(refund).toMatchObject({ amount: HUNDRED, status: 'pending' });
    expect(await shop.balance()).toMatchObject({ available: 0, held: 0 });
  },
);

test('an invoice with seen money becomes void only once that money is gone', async () => {
  const shop = await Shop.open(service);
  const own = await invoice(shop);
  const { address } = await own.due();
  await shop.send(address);
  await shop.scan();
  expect(await own.close('canceled')).toBe(false);
  expect(await own.close('expired')).toBe(false);
  expect(await own.read()).toMatchObject({ status: 'processing' });
  await own.eventTypes();
  await shop.chain().reorg(1);
  await shop.chain().mine(2);
  await shop.scan();
  expect(await own.eventTypes()).toHaveLength(1);
  expect(await own.read()).toMatchObject({ status: 'pending' });
  expect(await own.close('canceled')).toBe(true);
});

test('seen money for an invoice that a charge has paid is held, and the page expires without an event', async () => {
  const shop = await Shop.open(service);
  const own = await invoice(shop);
  const { address } = await own.due();
  await shop.send(address);
  await shop.scan();
  expect(await own.close('paid')).toBe(true);
  expect(await own.read()).toMatchObject({ status: 'processing' });
  expect(await own.state()).toBe('money');
  await shop.settle();
  expect(await own.read()).toMatchObject({ status: 'expired', completed_at: null });
  expect(await own.state()).toBe('expired');
  expect(await shop.balance()).toMatchObject({ available: 0, held: HUNDRED });
  expect(await eventTypesOf(shop.merchant, own.session.payment_id)).toEqual([]);
});

test('if an invoice is paid otherwise while late money waits for a rate, the page ends and the money is held', async () => {
  const shop = await Shop.open(service);
  const setRate = (pair: string) =>
    writeSetting(service.app.db, shop.merchant.merchantId, RATE_SETTINGS.fixed, [pair]);
  await setRate('USDT/EUR=0.8');
  const own = await invoice(shop, { amount: 4_000n, currency: 'EUR' });
  const { address } = await own.due();
  shop.wait(5_000);
  // So far from a dollar it is not sold for: no rate can be had.
  await setRate('USDT/USD=2');
  await shop.send(address, { amount: 50n * BigInt(TOKEN) });
  await shop.settle();
  expect(await own.state()).toBe('money');
  expect(await own.close('expired')).toBe(false);
  expect(await own.close('paid')).toBe(true);
  expect(await own.read()).toMatchObject({ status: 'expired', amount_received: 50 * TOKEN });
  expect(await own.state()).toBe('expired');
  expect(await shop.balance()).toMatchObject({ available: 0, held: 50 * TOKEN });
});

test('an underpaid page is accepted and pays the invoice', async () => {
  const shop = await Shop.open(service);
  const own = await invoice(shop);
  const { address } = await own.due();
  await shop.send(address, { amount: 40_000_000n });
  await shop.settle();
  await own.eventTypes();
  expect(await shop.api.accept(own.session.payment_id)).toMatchObject({ status: 'completed' });
  expect(await own.eventTypes()).toHaveLength(1);
  expect(await shop.balance()).toMatchObject({ available: 40 * TOKEN, held: 0 });
});

/** The id of a registered approver, who is registered now where nobody has that name. */
async function approverOf(shop: Shop, name: string): Promise<string> {
  const { merchantId } = ownerOf(shop);
  const find = async () =>
    (await listApprovers(service.app, merchantId)).find((one) => one.name === name)?.approver_id;
  const known = await find();
  if (known === undefined) await addApprover(service.app, merchantId, name);
  const approverId = known ?? (await find());
  if (approverId === undefined) throw new Error(`${name} is registered`);
  return approverId;
}

/** A page that a sanctioned wallet has paid, and the decision of two people. */
async function frozen(shop: Shop) {
  const own = await invoice(shop);
  const { address } = await own.due();
  const txId = await shop.send(address, { from: testAddresses('erc20').risk_rejected });
  await shop.settle();
  expect(await own.read()).toMatchObject({ status: 'frozen' });
  const decide = async (decision: 'release' | 'keep') => {
    for (const name of ['Ann', 'Bob']) {
      const approverId = await approverOf(shop, name);
      const vote = { paymentId: own.paymentId, txId, approverId, decision };
      await decideSeizure(shop.deps, ownerOf(shop), vote);
    }
    return (await own.read()).status;
  };
  return { ...own, decide };
}

test('a frozen page outlives its void invoice: released money is held, kept money ends the page', async () => {
  const shop = await Shop.open(service);
  const [released, kept] = [await frozen(shop), await frozen(shop)];
  for (const own of [released, kept]) {
    expect(await own.state()).toBe('frozen');
    expect(await own.close('canceled')).toBe(true);
    expect(await own.read()).toMatchObject({ status: 'frozen' });
    await own.eventTypes();
  }
  expect(await released.decide('release')).toBe('expired');
  expect(await kept.decide('keep')).toBe('expired');
  expect(await released.eventTypes()).toHaveLength(1);
  expect(await shop.balance()).toMatchObject({ available: 0, held: HUNDRED, seized: 0 });
  expect((await shop.api.post(`/payment/${released.session.payment_id}/accept`)).status).toBe(400);
  expect(await eventTypesOf(shop.merchant, kept.session.payment_id)).toEqual([
    'payment.failed',
    'payment.expired',
  ]);
});

test('while the invoice is open a frozen page completes by release, and is open again after keep', async () => {
  const shop = await Shop.open(service);
  const [released, kept] = [await frozen(shop), await frozen(shop)];
  shop.wait(YEAR);
  expect(await released.decide('release')).toBe('completed');
  expect(await kept.decide('keep')).toBe('pending');
  expect(await kept.state()).toBe('open');
  expect(await shop.balance()).toMatchObject({ available: HUNDRED, held: 0, seized: 0 });
});

test('its page shows description and period but no countdown, and later that nothing is due', async () => {
  const shop = await Shop.open(service);
  const own = await invoice(shop);
  const state = async (lang: string): Promise<CheckoutView> =>
    (await fetch(`${own.session.url}/state?lang=${lang}`)).json() as Promise<CheckoutView>;
  expect(await state('en')).toMatchObject({
    state: 'choose',
    description: 'Gold plan',
    period: 'Jan 1\u2009–\u200931, 2026',
    secondsLeft: null,
    secondsTotal: null,
  });
  const page = await (await fetch(`${own.session.url}?lang=es`)).text();
  expect(page).toContain('Por el periodo 1–31 ene 2026');
  await own.close('canceled');
  expect(await state('en')).toMatchObject({ state: 'over', due: null });
});

test('a lowered invoice: earlier dust holds no quote and waits for no rate', async () => {
  const shop = await Shop.open(service);
  const { merchantId } = shop.merchant;
  const setRate = (rate: string) =>
    writeSetting(service.app.db, merchantId, RATE_SETTINGS.fixed, [`USDT/EUR=${rate}`]);
  await setRate('0.8');
  const dust = { amount: (BigInt(TOKEN) * 4n) / 10n };
  for (const wait of [60, 5_000]) {
    const own = await invoice(shop, { amount: 4_000n, currency: 'EUR' });
    const { address } = await own.due();
    shop.wait(wait);
    await shop.send(address, dust);
    await shop.settle();
    for (const amount of [2_000n, 1_000n]) {
      await own.reprice(amount);
      expect(await own.state()).toBe('open');
    }
    await setRate('0.5');
    shop.wait(5_000);
    await own.due();
    // 10.00 EUR at the rate of its own time, less what is there.
    expect(await own.read()).toMatchObject({ status: 'pending', pay_amount: 20 * TOKEN });
    await shop.send(address, { amount: 20n * BigInt(TOKEN) - dust.amount });
    await shop.settle();
    expect(await own.read()).toMatchObject({ status: 'completed', exceptions: [] });
    await setRate('0.8');
  }
});

test('an earlier amount may by now exceed what a token can carry', async () => {
  const shop = await Shop.open(service);
  const setRate = (rate: string) =>
    writeSetting(service.app.db, shop.merchant.merchantId, RATE_SETTINGS.fixed, [`USDT/EUR=${rate}`]);
  await setRate('1');
  const own = await invoice(shop, { amount: 800_000_000_000n, currency: 'EUR' });
  const { address } = await own.due();
  await own.reprice(1_000n);
  await setRate('0.5');
  shop.wait(5_000);
  await own.due();
  await shop.send(address, { amount: 20n * BigInt(TOKEN) });
  await shop.settle();
  expect(await own.read()).toMatchObject({ status: 'completed', pay_amount: 20 * TOKEN });
});

test('money sent before the invoice was lowered counts at its own rate, for the lower price', async () => {
  const shop = await Shop.open(service);
  const { merchantId } = shop.merchant;
  const setRate = (rate: string) =>
    writeSetting(service.app.db, merchantId, RATE_SETTINGS.fixed, [`USDT/EUR=${rate}`]);
  await setRate('0.8');
  const own = await invoice(shop, { amount: 4_000n, currency: 'EUR' });
  const { address } = await own.due();
  await shop.send(address, { amount: 25n * BigInt(TOKEN) });
  await own.reprice(2_000n);
  await setRate('0.5');
  shop.wait(5_000);
  await own.due();
  expect(await own.read()).toMatchObject({ pay_amount: 40 * TOKEN });
  await shop.settle();
  expect(await own.read()).toMatchObject({ status: 'completed', pay_amount: 25 * TOKEN, exceptions: [] });
});
