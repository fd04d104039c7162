import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bodyOf } from '../payouts/requests.ts';
import { startService, type TestService } from '../service.ts';
import { billing, DAY, HOUR, item, order } from './billing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.stop());

const open = async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  return { merchant, api: billing(service, merchant) };
};

test('– → incomplete: the first invoice is open with a page, and its payer is sent to it', async () => {
  const { api } = await open();
  const made = await api.make({ description: 'Gold', metadata: { plan: 'gold' } });
  expect(made).toMatchObject({ object: 'subscription', status: 'incomplete', customer: 'customer-1' });
  expect(made.billing_cycle_anchor).toBe(made.created);
  expect(made.checkout_url).toMatch(/^http.*\/subscribe\/[1-9A-Za-z]+$/);
  const read = await api.read(made.id);
  expect(read).not.toHaveProperty('checkout_url');
  const invoice = await api.latest(made.id);
  expect(made.current_period_start).toBe(invoice.period_start);
  expect(made.current_period_end).toBe(invoice.period_end);
  expect(invoice).toMatchObject({
    amount_due: 2_000,
    amount_remaining: 2_000,
    status: 'open',
    payment_status: 'pending',
    billing_reason: 'subscription_create',
    due_date: made.created + 23 * HOUR,
    period_start: made.created,
  });
  expect(invoice.payment_id).toMatch(/^cs_/);
  expect(await api.session(invoice.payment_id ?? '')).toMatchObject({ expires_at: null, amount: 2_000 });
  expect(await api.eventTypes()).toEqual(['subscription.created', 'invoice.created']);
});

test('– → active: what costs nothing is paid at once', async () => {
  const { api } = await open();
  const made = await api.make({ items: [item(0)] });
  expect(made).toMatchObject({ status: 'active', current_period_start: made.created });
  expect(made).not.toHaveProperty('checkout_url');
  expect(await api.latest(made.id)).toMatchObject({
    amount_due: 0,
    status: 'paid',
    payment_status: 'completed',
  });
  expect(await api.latest(made.id)).not.toHaveProperty('payment_id');
  expect(await api.eventTypes()).toEqual([
    'subscription.created',
    'invoice.created',
    'invoice.paid',
    'subscription.active',
  ]);
});

test('a trial without a mandate has no invoice, and 23 h to get one', async () => {
  const { api } = await open();
  const made = await api.make({ trial_period_days: 14 });
  expect(made).toMatchObject({
    status: 'incomplete',
    current_period_start: made.created,
    current_period_end: made.created + 14 * DAY,
    billing_cycle_anchor: made.created + 14 * DAY,
  });
  expect(made).toHaveProperty('checkout_url');
  expect(made).not.toHaveProperty('latest_invoice');
  await api.advance(23 * HOUR);
  expect(await api.read(made.id)).toMatchObject({ status: 'incomplete_expired' });
  expect(await api.eventTypes()).toEqual(['subscription.created', 'subscription.incomplete_expired']);
});

test('incomplete → incomplete_expired: 23 h without a payment void the invoice and end its page', async () => {
  const { api } = await open();
  const made = await api.make();
  await api.advance(23 * HOUR - 60);
  expect(await api.read(made.id)).toMatchObject({ status: 'incomplete' });
  await api.advance(120);
  expect(await api.read(made.id)).toMatchObject({ status: 'incomplete_expired' });
  expect(await api.latest(made.id)).toMatchObject({ status: 'void', payment_status: 'expired' });
  expect((await api.eventTypes()).slice(2)).toEqual(['payment.expired', 'subscription.incomplete_expired']);
  const { status } = await api.post(`/subscriptions/${made.id}/cancel`);
  expect(status).toBe(400);
});

test('an anchor ahead makes a stub, prorated by the second and rounded up', async () => {
  const { api } = await open();
  const at = Math.floor(Date.now() / 1000) + 10 * DAY;
  const made = await api.make({ billing_cycle_anchor: at });
  const whole = at - Date.parse(monthBefore(at)) / 1000;
  const invoice = await api.latest(made.id);
  expect(invoice).toMatchObject({ period_start: made.created, period_end: at });
  expect(invoice.amount_due).toBe(Math.ceil((2_000 * (at - made.created)) / whole));
});

function monthBefore(seconds: number): string {
  const date = new Date(seconds * 1000);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 0)).getUTCDate();
  const day = Math.min(date.getUTCDate(), last);
  const time = date.toISOString().slice(11);
  const month = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1, day)).toISOString();
  return `${month.slice(0, 11)}${time}`;
}

test('B6, C4: a key answers its first subscription as it is now, and means nothing elsewhere', async () => {
  const { merchant, api } = await open();
  const key = randomUUID();
  const first = await api.create(order({ cancel_at: Math.floor(Date.now() / 1000) + DAY }), key);
  expect(first.status, first.text).toBe(200);
  const batch = await api.post('/payout-batches', bodyOf(['1.00']), { 'idempotency-key': key });
  expect(batch.status).toBe(200);
  const other = await open();
  const foreign = await other.api.create(order(), key);
  expect(foreign.json).toMatchObject({ object: 'subscription', customer: 'customer-1' });
  expect(foreign.json.id).not.toBe(first.json.id);

  const again = await api.create(JSON.parse(JSON.stringify(order({ cancel_at: first.json.cancel_at }))), key);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.json).toEqual(first.json);
  expect((await api.create(order({ description: 'Other' }), key)).json).toMatchObject({
    error: { code: 'conflict', param: 'Idempotency-Key' },
  });
  await api.advance(2 * DAY);
  const late = await api.create(order({ cancel_at: first.json.cancel_at }), key);
  expect(late.status, late.text).toBe(200);
  expect(late.json.id).toBe(first.json.id);
  expect(late.json).not.toHaveProperty('checkout_url');
  const second = billing(service, await service.addStore(merchant));
  expect((await second.create(order({ cancel_at: first.json.cancel_at }), key)).status).toBe(403);
});

test.each<[string, object, string]>([
  [
    'another currency in an item',
    { items: [item(1), item(1, 'month', 'EUR')] },
    'items[1].price_data.currency',
  ],
  ['two intervals', { items: [item(1), item(1, 'day')] }, 'items[1].price_data.recurring.interval'],
  ['no item', { items: [] }, 'items'],
  ['a sum that is too large', { items: [{ ...item(2 ** 53 - 1), quantity: 2 }] }, 'items'],
  ['no currency', { currency: 'XXQ', items: [item(1, 'month', 'XXQ')] }, 'currency'],
  ['a quantity of none', { items: [{ ...item(1), quantity: 0 }] }, 'items[0].quantity'],
  ['a customer with our prefix', { customer: 'cus_1' }, 'customer'],
  ['an unknown payment method', { payment_method_id: 'pm_1' }, 'payment_method_id'],
  [
    'a trial and an anchor',
    { trial_period_days: 1, billing_cycle_anchor: 2_000_000_000 },
    'billing_cycle_anchor',
  ],
  ['an anchor in the past', { billing_cycle_anchor: 1_000_000_000 }, 'billing_cycle_anchor'],
  ['an anchor too far ahead', { billing_cycle_anchor: 4_000_000_000 }, 'billing_cycle_anchor'],
  ['a cancel in the past', { cancel_at: 1_000_000_000 }, 'cancel_at'],
  ['a trial that is too long', { trial_period_days: 731 }, 'trial_period_days'],
  ['a long key of metadata', { metadata: { ['k'.repeat(41)]: 'x' } }, `metadata.${'k'.repeat(41)}`],
  ['a key of nothing', { metadata: { '': 'x' } }, 'metadata.'],
  ['no value, under a key with a line break', { metadata: { 'a\nb': null } }, 'metadata.a\nb'],
  [
    'an item’s long value',
    { items: [{ ...item(1), metadata: { a: 'x'.repeat(501) } }] },
    'items[0].metadata.a',
  ],
  ['an e-mail address that is none', { customer_email: '<,;>@..' }, 'customer_email'],
  ['a page that is no address', { success_url: 'http://example.com' }, 'success_url'],
])('%s is refused and binds no key', async (_, more, param) => {
  const { api } = await open();
  const key = randomUUID();
  const { status, json } = await api.create(order(more), key);
  expect([status, json.error]).toEqual([400, expect.objectContaining({ param })]);
  expect((await api.create(order(), key)).status).toBe(200);
});

test('an Idempotency-Key is required', async () => {
  const { api } = await open();
  const { status, json } = await api.post('/subscriptions/create', order());
  expect([status, json.error]).toEqual([
    400,
    expect.objectContaining({ code: 'parameter_missing', param: 'Idempotency-Key' }),
  ]);
});
