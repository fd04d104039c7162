import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { billing, DAY, item, order } from './billing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const open = async () => billing(service, await service.createMerchant({ funds: 0n }));
async function active(more: object = {}) {
  const api = await open();
  const { id } = await api.make(more);
  const subscription = await api.authorize(id);
  const { length } = await api.eventTypes();
  const [start, end] = [subscription.current_period_start ?? 0, subscription.current_period_end ?? 0];
  return { api, id, length, start, end };
}

test('a dearer plan now: the difference for the rest of the period is invoiced and charged at once', async () => {
  const { api, id, length, start, end } = await active();
  await api.advance(10 * DAY);
  const preview = await api.preview(id, { items: [item(5_000)] });
  expect(preview).not.toHaveProperty('id');
  expect(await api.invoices(id)).toHaveLength(1);
  const after = await api.update(id, { items: [item(5_000)] });
  expect(after.items[0]?.price_data.unit_amount).toBe(5_000);
  const invoice = await api.latest(id);
  expect(invoice).toMatchObject({ billing_reason: 'subscription_update', period_end: end });
  const rest = end - invoice.period_start;
  expect(invoice.amount_due).toBe(Math.ceil((3_000 * rest) / (end - start)));
  expect(Math.abs(preview.amount_due - invoice.amount_due)).toBeLessThan(2);
  await api.advance(10);
  expect(await api.latest(id)).toMatchObject({ id: invoice.id, status: 'paid' });
  expect(await api.read(id)).toMatchObject({ status: 'active', current_period_end: end });
  expect((await api.eventTypes()).slice(length)).toEqual([
    'subscription.updated',
    'invoice.created',
    'payment.completed',
    'invoice.paid',
  ]);
});

test('a cheaper plan now: the credit is used up by the next invoices', async () => {
  const { api, id, length, end } = await active();
  await api.advance(11 * DAY);
  await api.update(id, { items: [item(500)] });
  expect((await api.eventTypes()).slice(length)).toEqual(['subscription.updated']);
  expect(await api.invoices(id)).toHaveLength(1);
  const now = (await api.call('/test_helpers/clock')).json.now as number;
  await api.advance(end - now + 60);
  const [, second] = await api.invoices(id);
  // About two thirds of 1,500 are left over: a period of 500 costs nothing.
  expect(second).toMatchObject({ amount_due: 0, status: 'paid' });
  expect((await api.eventTypes()).slice(length + 1)).toEqual([
    'invoice.created',
    'invoice.paid',
    'subscription.updated',
  ]);
  await api.advance(32 * DAY);
  const [, , third] = await api.invoices(id);
  expect(third?.amount_due).toBeGreaterThan(0);
  expect(third?.amount_due).toBeLessThan(500);
});

test('from the next period on: shown then, with its event before the invoice’s', async () => {
  const { api, id, length, end } = await active();
  const before = await api.read(id);
  expect(await api.preview(id, { items: [item(700)], proration: 'period_end' })).toMatchObject({
    amount_due: 700,
    period_start: end,
  });
  expect(await api.update(id, { items: [item(700)], proration: 'period_end' })).toEqual(before);
  expect((await api.eventTypes()).slice(length)).toEqual([]);
  const now = (await api.call('/test_helpers/clock')).json.now as number;
  await api.advance(end - now + 60);
  expect((await api.read(id)).items[0]?.price_data.unit_amount).toBe(700);
  expect(await api.latest(id)).toMatchObject({ amount_due: 700, status: 'paid' });
  expect((await api.eventTypes()).slice(length)).toEqual([
    'subscription.updated',
    'invoice.created',
    'payment.completed',
    'invoice.paid',
    'subscription.updated',
  ]);
});

test('none: at once, without a sum; no change: no event', async () => {
  const { api, id, length } = await active();
  const after = await api.update(id, { items: [item(9_000)], proration: 'none' });
  expect(await api.invoices(id)).toHaveLength(1);
  expect(await api.update(id, { items: [item(9_000)] })).toEqual(after);
  expect(await api.update(id, { metadata: {} })).toEqual(after);
  expect(await api.update(id, {})).toEqual(after);
  expect(await api.update(id, { cancel_at: null })).toEqual(after);
  expect(await api.update(id, { metadata: { plan: 'gold' } })).toMatchObject({ metadata: { plan: 'gold' } });
  expect((await api.eventTypes()).slice(length)).toEqual(['subscription.updated', 'subscription.updated']);
});

test('what was given without a sum is not credited when it is taken back, nor billed again', async () => {
  const { api, id, end } = await active();
  await api.advance(10 * DAY);
  await api.update(id, { items: [item(90_000)], proration: 'none' });
  await api.update(id, { items: [item(2_000)] });
  await api.update(id, { items: [item(100)], proration: 'none' });
  await api.update(id, { items: [item(2_000)] });
  expect(await api.invoices(id)).toHaveLength(1);
  const now = (await api.call('/test_helpers/clock')).json.now as number;
  await api.advance(end - now + 60);
  expect(await api.latest(id)).toMatchObject({
    billing_reason: 'subscription_cycle',
    amount_due: 2_000,
    status: 'paid',
  });
});

test('a mandate whose cap is for a month pays for no subscription of each day', async () => {
  const api = await open();
  const { id } = await api.make();
  const { payment_method_id } = await api.authorize(id);
  const daily = order({ items: [item(2_000, 'day')] });
  const refusal = { status: 400, json: { error: { param: 'payment_method_id' } } };
  expect(await api.create({ ...daily, payment_method_id })).toMatchObject(refusal);
  const other = await api.make({ items: [item(2_000, 'day')] });
  expect(await api.post(`/subscriptions/${other.id}/update`, { payment_method_id })).toMatchObject(refusal);
  const yearly = await api.make({ items: [item(2_000, 'year')], payment_method_id });
  expect(yearly).toMatchObject({ payment_method_id });
});

test('what is refused names the field', async () => {
  const api = await open();
  const { id } = await api.make();
  const refused = async (body: object) => {
    const { status, json } = await api.post(`/subscriptions/${id}/update`, body);
    return [status, (json.error as { param?: string }).param];
  };
  expect(await refused({ items: [item(1)] })).toEqual([400, 'items']);
  expect(await refused({ cancel_at: 1_000_000_000 })).toEqual([400, 'cancel_at']);
  expect(await refused({ payment_method_id: 'pm_none' })).toEqual([400, 'payment_method_id']);
  await api.authorize(id);
  expect(await refused({ items: [item(1, 'day')] })).toEqual([400, 'items[0].price_data.recurring.interval']);
  expect(await refused({ items: [item(1, 'month', 'EUR')] })).toEqual([400, 'items[0].price_data.currency']);
});
