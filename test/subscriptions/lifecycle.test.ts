import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { billing, DAY, HOUR, item } from './billing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const open = async () => billing(service, await service.createMerchant({ funds: 0n }));
const PAID = ['payment.completed', 'invoice.paid'];
const FAILED = ['payment.failed', 'invoice.payment_failed'];
/** A subscription of 20.00 USD a month that is active by a mandate. */
async function active(more: object = {}, mandate: object = {}) {
  const api = await open();
  const { id } = await api.make(more);
  const subscription = await api.authorize(id, mandate);
  return { api, id, subscription };
}

test('incomplete → active: a mandate is given and the first invoice charged', async () => {
  const { api, id, subscription } = await active();
  expect(subscription).toMatchObject({ status: 'active', current_period_start: subscription.created });
  expect(subscription.payment_method_id).toMatch(/^pm_/);
  const invoice = await api.latest(id);
  expect(invoice).toMatchObject({ status: 'paid', payment_status: 'completed', amount_paid: 2_000 });
  // The page that it had from the start is over without news.
  expect(await api.session(invoice.payment_id ?? '')).toMatchObject({ status: 'expired' });
  expect(await api.eventTypes()).toEqual([
    'subscription.created',
    'invoice.created',
    ...PAID,
    'subscription.active',
  ]);
});

test('incomplete → active: the first invoice is paid on its page', async () => {
  const api = await open();
  const { id } = await api.make();
  const { payment_id: session = '' } = await api.latest(id);
  await api.pay(session);
  await api.advance(1);
  expect(await api.read(id)).toMatchObject({ status: 'active' });
  expect(await api.latest(id)).toMatchObject({ status: 'paid', payment_id: session });
  expect((await api.eventTypes()).slice(2)).toEqual([...PAID, 'subscription.active']);
});

test('active → active: each period is billed and charged on the day of the anchor', async () => {
  const { api, id, subscription } = await active();
  await api.advance(95 * DAY);
  const invoices = await api.invoices(id);
  expect(invoices.map(({ billing_reason }) => billing_reason)).toEqual([
    'subscription_create',
    'subscription_cycle',
    'subscription_cycle',
    'subscription_cycle',
  ]);
  for (const [i, invoice] of invoices.entries()) {
    expect(invoice).toMatchObject({ status: 'paid', amount_due: 2_000 });
    expect(invoice.period_start).toBe(i === 0 ? subscription.created : invoices[i - 1]?.period_end);
    if (i > 0) {
      expect(invoice.created - invoice.period_start).toBeLessThan(10);
      expect(invoice.due_date).toBe(invoice.created);
      expect(invoice.payment_id).toMatch(/^pay_/);
    }
  }
  expect((await api.read(id)).current_period_start).toBe(invoices.at(-1)?.period_start);
  const period = ['invoice.created', ...PAID, 'subscription.updated'];
  expect((await api.eventTypes()).slice(5)).toEqual([...period, ...period, ...period]);
});

test('trialing → active: a trial is charged at its end, for the period from the anchor', async () => {
  const { api, id, subscription } = await active({ trial_period_days: 7 });
  expect(subscription).toMatchObject({ status: 'trialing' });
  expect(await api.invoices(id)).toEqual([]);
  await api.advance(7 * DAY + HOUR);
  expect(await api.read(id)).toMatchObject({
    status: 'active',
    current_period_start: subscription.billing_cycle_anchor,
  });
  expect(await api.latest(id)).toMatchObject({ billing_reason: 'subscription_cycle', status: 'paid' });
  expect(await api.eventTypes()).toEqual([
    'subscription.created',
    'subscription.trialing',
    'invoice.created',
    ...PAID,
    'subscription.active',
  ]);
});

test('a mandate that is there is charged at once; with a trial it begins at once', async () => {
  const { api, subscription } = await active();
  const method = { payment_method_id: subscription.payment_method_id };
  const second = await api.make(method);
  expect(second).not.toHaveProperty('checkout_url');
  await api.advance(30);
  expect(await api.read(second.id)).toMatchObject({ status: 'active' });
  expect((await api.latest(second.id)).payment_id).toMatch(/^pay_/);
  expect(await api.make({ ...method, trial_period_days: 3 })).toMatchObject({ status: 'trialing' });
  expect((await api.eventTypes()).slice(-2)).toEqual(['subscription.created', 'subscription.trialing']);
});

test('incomplete → incomplete: a first charge that fails is tried again 1, 6, 12 and 22 h after creation', async () => {
  const { api, id } = await active({}, { balance: 0 });
  expect(await api.read(id)).toMatchObject({ status: 'incomplete' });
  expect((await api.eventTypes()).slice(2)).toEqual(FAILED);
  const tries = [];
  for (const hours of [0.5, 1, 5, 6, 10]) {
    await api.advance(hours * HOUR);
    tries.push((await api.eventTypes()).filter((type) => type === 'payment.failed').length);
  }
  expect(tries).toEqual([1, 2, 3, 4, 5]);
  await api.advance(HOUR);
  expect(await api.read(id)).toMatchObject({ status: 'incomplete_expired' });
  expect((await api.eventTypes()).slice(-2)).toEqual(['payment.expired', 'subscription.incomplete_expired']);
});

test('active → past_due → active: a renewal fails, gets a page, and is paid after a top-up', async () => {
  const { api, id, subscription } = await active();
  const change = (body: object) =>
    api.post(`/test_helpers/payment_methods/${subscription.payment_method_id}`, body);
  const untilRenewal = (subscription.current_period_end ?? 0) - subscription.created;
  await api.advance(untilRenewal - HOUR);
  const before = (await api.eventTypes()).length;
  await change({ balance: 0 });
  await api.advance(HOUR + 60);
  expect(await api.read(id)).toMatchObject({ status: 'past_due' });
  const invoice = await api.latest(id);
  expect(invoice).toMatchObject({ status: 'open', payment_status: 'failed' });
  expect(invoice.payment_id).toMatch(/^cs_/);
  expect((await api.eventTypes()).slice(before)).toEqual([
    'invoice.created',
    ...FAILED,
    'subscription.past_due',
  ]);
  await change({ balance: 100_000_000 });
  await api.advance(HOUR);
  expect(await api.read(id)).toMatchObject({ status: 'active', current_period_start: invoice.period_start });
  expect((await api.eventTypes()).slice(before + 4)).toEqual([...PAID, 'subscription.active']);
});

test('past_due → canceled: after 1, 3, 5 and 7 days nobody has paid', async () => {
  const { api, id } = await active();
  await (await api.wallet()).hold(0n);
  const { current_period_end: due = 0, created } = await api.read(id);
  await api.advance(due - created);
  await api.advance(60);
  const before = (await api.eventTypes()).length;
  const seen = [];
  for (const days of [1, 2, 2, 1.9]) {
    await api.advance(days * DAY);
    seen.push((await api.eventTypes()).slice(before).filter((type) => type === 'payment.failed').length);
  }
  expect(seen).toEqual([1, 2, 3, 3]);
  expect(await api.read(id)).toMatchObject({ status: 'past_due' });
  await api.advance(0.2 * DAY);
  const end = await api.read(id);
  expect(end).toMatchObject({ status: 'canceled' });
  expect(end.canceled_at).toBeGreaterThanOrEqual(due + 7 * DAY);
  expect(await api.latest(id)).toMatchObject({ status: 'void', payment_status: 'expired' });
  expect((await api.eventTypes()).slice(before)).toEqual([
    ...FAILED,
    ...FAILED,
    ...FAILED,
    ...FAILED,
    'payment.expired',
    'subscription.canceled',
  ]);
});

test('a payer without a mandate: each renewal has a page, past due after 3 days, canceled 7 days later', async () => {
  const api = await open();
  const { id, created } = await api.make();
  const { payment_id: first = '' } = await api.latest(id);
  await api.pay(first);
  await api.advance(1);
  const { current_period_end: end = 0 } = await api.read(id);
  await api.advance(end - created + 60);
  const invoice = await api.latest(id);
  expect(invoice.due_date).toBe(invoice.created + 3 * DAY);
  expect(invoice).toMatchObject({ status: 'open', payment_status: 'pending' });
  expect(await api.read(id)).toMatchObject({ status: 'active', current_period_end: end });
  await api.advance(3 * DAY);
  expect(await api.read(id)).toMatchObject({ status: 'past_due' });
  expect((await api.eventTypes()).slice(5)).toEqual([
    'invoice.created',
    'invoice.payment_failed',
    'subscription.past_due',
  ]);
  await api.advance(6 * DAY);
  await api.pay(invoice.payment_id ?? '');
  await api.advance(1);
  expect(await api.read(id)).toMatchObject({ status: 'active', current_period_start: end });
  await api.advance(60 * DAY);
  expect(await api.read(id)).toMatchObject({ status: 'canceled' });
  expect((await api.eventTypes()).slice(-4)).toEqual([
    'invoice.payment_failed',
    'subscription.past_due',
    'payment.expired',
    'subscription.canceled',
  ]);
});

test('a renewal that costs nothing is paid as it is made', async () => {
  const api = await open();
  const { id } = await api.make({ items: [item(0, 'week')] });
  await api.advance(15 * DAY);
  expect((await api.invoices(id)).map(({ status }) => status)).toEqual(['paid', 'paid', 'paid']);
  const period = ['invoice.created', 'invoice.paid', 'subscription.updated'];
  expect((await api.eventTypes()).slice(4)).toEqual([...period, ...period]);
});

test('a wallet needs nothing for a period that a planned end rules out', async () => {
  const { api, id, subscription } = await active();
  const empty = async () =>
    (await api.post(`/test_helpers/payment_methods/${subscription.payment_method_id}`, { balance: 0 })).json
      .status;
  expect(await empty()).toBe('inactive');
  await api.cancel(id, { cancel_at_period_end: true });
  expect(await empty()).toBe('active');
  await api.update(id, { cancel_at: null });
  expect(await empty()).toBe('inactive');
});
