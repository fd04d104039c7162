import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { BLOCKS_BY_HAND, startService, type TestService } from '../service.ts';
import { billing, DAY, HOUR, item } from './billing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true, simchainTiming: BLOCKS_BY_HAND });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const open = async () => billing(service, await service.createMerchant({ funds: 0n }));
const free = async () => {
  const api = await open();
  return { api, made: await api.make({ items: [item(0)] }) };
};

test('any live → canceled: at once, its open invoice void and its page canceled', async () => {
  const api = await open();
  const { id } = await api.make();
  const canceled = await api.cancel(id);
  expect(canceled).toMatchObject({ status: 'canceled', canceled_at: expect.any(Number) });
  expect(canceled).not.toHaveProperty('cancel_at');
  const invoice = await api.latest(id);
  expect(invoice).toMatchObject({ status: 'void', payment_status: 'canceled', amount_paid: 0 });
  expect(await api.session(invoice.payment_id ?? '')).toMatchObject({ status: 'canceled' });
  expect((await api.eventTypes()).slice(2)).toEqual(['payment.cancelled', 'subscription.canceled']);
  expect((await api.post(`/subscriptions/${id}/cancel`)).status).toBe(400);
  expect((await api.post(`/subscriptions/${id}/update`, { metadata: {} })).status).toBe(400);
});

test('at the end of the period: planned, undone, planned again and done before the renewal', async () => {
  const { api, made } = await free();
  const end = made.current_period_end ?? 0;
  expect(await api.cancel(made.id, { cancel_at_period_end: true })).toMatchObject({
    status: 'active',
    cancel_at: end,
  });
  expect(await api.update(made.id, { cancel_at: null })).not.toHaveProperty('cancel_at');
  await api.cancel(made.id, { cancel_at_period_end: true });
  // The same again says nothing new.
  await api.cancel(made.id, { cancel_at: end });
  expect((await api.eventTypes()).slice(4)).toEqual(Array.from({ length: 3 }, () => 'subscription.updated'));
  await api.advance(end - made.created + 60);
  const ended = await api.read(made.id);
  expect(ended).toMatchObject({ status: 'canceled', cancel_at: end });
  expect(ended.canceled_at).toBeGreaterThanOrEqual(end);
  expect(await api.invoices(made.id)).toHaveLength(1);
  expect((await api.eventTypes()).slice(7)).toEqual(['subscription.canceled']);
});

test('at a time: also as it is made, and in the middle of a period', async () => {
  const api = await open();
  const at = Math.floor(Date.now() / 1000) + 10 * DAY;
  const made = await api.make({ items: [item(0)], cancel_at: at });
  expect(made.cancel_at).toBe(at);
  await api.advance(10 * DAY + 60);
  expect(await api.read(made.id)).toMatchObject({ status: 'canceled' });
});

test.each<[string, object, string | undefined]>([
  ['a time in the past', { cancel_at: 1_000_000_000 }, 'cancel_at'],
  ['both', { cancel_at: 4_000_000_000, cancel_at_period_end: true }, undefined],
  ['false', { cancel_at_period_end: false }, 'cancel_at_period_end'],
  ['another field', { now: true }, 'now'],
])('%s is refused', async (_, body, param) => {
  const { api, made } = await free();
  const { status, json } = await api.post(`/subscriptions/${made.id}/cancel`, body);
  expect(status).toBe(400);
  if (param !== undefined) expect(json.error).toMatchObject({ param });
  expect(await api.read(made.id)).not.toHaveProperty('cancel_at');
});

test('incomplete has no period to end, but can be canceled at a time', async () => {
  const api = await open();
  const { id, created } = await api.make();
  const { status, json } = await api.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: true });
  expect([status, json.error]).toEqual([400, expect.objectContaining({ param: 'cancel_at_period_end' })]);
  await api.cancel(id, { cancel_at: created + HOUR });
  await api.advance(HOUR + 1);
  expect(await api.read(id)).toMatchObject({ status: 'canceled' });
});

test('with money on its way it is canceled as soon as that is final, and what has come is kept', async () => {
  const api = await open();
  const { id } = await api.make();
  const { payment_id: session = '' } = await api.latest(id);
  await api.pay(session, { final: false });
  const waiting = await api.cancel(id);
  expect(waiting).toMatchObject({ status: 'incomplete', cancel_at: expect.any(Number) });
  expect(waiting).not.toHaveProperty('canceled_at');
  expect(await api.latest(id)).toMatchObject({ status: 'open', payment_status: 'processing' });
  await api.chain('erc20', { mine: 3 });
  await api.advance(2);
  expect(await api.read(id)).toMatchObject({ status: 'canceled' });
  expect(await api.latest(id)).toMatchObject({ status: 'paid', amount_paid: 2_000 });
  expect((await api.eventTypes()).slice(2)).toEqual([
    'subscription.updated',
    'payment.completed',
    'invoice.paid',
    'subscription.active',
    'subscription.canceled',
  ]);
});

test('money that vanishes holds a cancel up no longer', async () => {
  const api = await open();
  const { id } = await api.make();
  const { payment_id: session = '' } = await api.latest(id);
  await api.pay(session, { final: false });
  await api.cancel(id);
  await api.chain('erc20', { reorg: 2 });
  await api.advance(5);
  expect(await api.read(id)).toMatchObject({ status: 'canceled' });
  expect((await api.eventTypes()).slice(-2)).toEqual(['payment.cancelled', 'subscription.canceled']);
});

test('a subscription of another store is 403, of another merchant 404', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const { id } = await billing(service, merchant).make();
  const sister = billing(service, await service.addStore(merchant));
  expect((await sister.post(`/subscriptions/${id}/cancel`)).status).toBe(403);
  expect((await (await open()).post(`/subscriptions/${id}/cancel`)).status).toBe(404);
});
