import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { billing, DAY, HOUR } from './billing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const TOKENS = 1_000_000n;
const open = async () => billing(service, await service.createMerchant({ funds: 0n }));
async function active(mandate: object = {}, more: object = {}) {
  const api = await open();
  const { id } = await api.make(more);
  const subscription = await api.authorize(id, mandate);
  const untilRenewal = (subscription.current_period_end ?? 0) - subscription.created;
  return { api, id, subscription, untilRenewal };
}

test('pay: a charge that can only fail is recorded, with an event, and refused; after a top-up it is made', async () => {
  const { api, id, untilRenewal } = await active();
  const wallet = await api.wallet();
  await wallet.hold(0n);
  await api.advance(untilRenewal + 60);
  const invoice = await api.latest(id);
  const before = (await api.eventTypes()).length;
  const refused = await api.payInvoice(invoice.id);
  expect(refused.status).toBe(400);
  const { charge } = refused.json.error as { charge: string };
  expect(refused.json.error).toMatchObject({
    decline_code: 'insufficient_balance',
    charge: expect.stringMatching(/^pay_/),
  });
  expect(await api.payment(charge)).toMatchObject({
    status: 'failed',
    decline_code: 'insufficient_balance',
    invoice: invoice.id,
    amount: 2e3,
    transactions: [],
  });
  expect((await api.eventTypes()).slice(before)).toEqual(['payment.failed', 'invoice.payment_failed']);
  await wallet.hold(50n * TOKENS);
  const paid = await api.payInvoice(invoice.id);
  expect(paid.status, paid.text).toBe(200);
  await api.advance(10);
  expect(await api.latest(id)).toMatchObject({ id: invoice.id, status: 'paid' });
  expect(await api.read(id)).toMatchObject({ status: 'active' });
  expect((await api.payInvoice(invoice.id)).status).toBe(400);
});

test('pay charges a wallet that was filled unnoticed', async () => {
  const { api, id, untilRenewal } = await active();
  await (await api.wallet()).hold(0n);
  await api.advance(untilRenewal + 60);
  const { payment_method_id: method } = await api.read(id);
  const change = { balance: 500_000_000, unnoticed: true };
  const changed = await api.post(`/test_helpers/payment_methods/${method}`, change);
  expect(changed.status, changed.text).toBe(200);
  const invoice = await api.latest(id);
  expect(invoice).toMatchObject({ status: 'open' });
  expect((await api.payInvoice(invoice.id)).status).toBe(200);
  await api.advance(10);
  expect(await api.latest(id)).toMatchObject({ id: invoice.id, status: 'paid' });
});

test('pay without a mandate is refused', async () => {
  const api = await open();
  const { latest_invoice: invoice = '' } = await api.make();
  expect((await api.payInvoice(invoice)).status).toBe(400);
});

test('a try outside of the schedule moves no day of it', async () => {
  const { api, id, untilRenewal } = await active();
  await (await api.wallet()).hold(0n);
  await api.advance(untilRenewal + 60);
  await api.advance(0.5 * DAY);
  const { id: invoice } = await api.latest(id);
  await api.payInvoice(invoice);
  const before = (await api.eventTypes()).filter((type) => type === 'payment.failed').length;
  await api.advance(0.6 * DAY);
  expect((await api.eventTypes()).filter((type) => type === 'payment.failed')).toHaveLength(before + 1);
});

test('insufficient_allowance counts as a try', async () => {
  const { api, id, untilRenewal } = await active();
  await (await api.wallet()).allow(1n);
  await api.advance(untilRenewal + 60);
  expect(await api.read(id)).toMatchObject({ status: 'past_due' });
  const events = await api.call('/events?type=payment.failed');
  expect(JSON.stringify(events.json)).toContain('insufficient_allowance');
});

test('an invoice above the cap fails, and only another mandate pays it', async () => {
  const { api, id } = await active({ cap: 10_000_000 });
  expect(await api.read(id)).toMatchObject({ status: 'incomplete' });
  const events = await api.call('/events?type=payment.failed');
  expect(JSON.stringify(events.json)).toContain('cap_exceeded');
  expect(await api.authorize(id)).toMatchObject({ status: 'active' });
});

test('a mandate that is revoked ends the charges, not the schedule; another one pays at once', async () => {
  const { api, id, untilRenewal } = await active();
  await (await api.wallet()).revoke();
  await api.advance(untilRenewal + 60);
  expect(await api.read(id)).toMatchObject({ status: 'past_due' });
  const before = await api.eventTypes();
  expect(before.slice(-4)).toEqual([
    'invoice.created',
    'payment.failed',
    'invoice.payment_failed',
    'subscription.past_due',
  ]);
  await api.advance(4 * DAY);
  expect(await api.eventTypes()).toEqual(before);
  expect(await api.authorize(id)).toMatchObject({ status: 'active' });
  expect((await api.eventTypes()).slice(before.length)).toEqual([
    'subscription.updated',
    'payment.completed',
    'invoice.paid',
    'subscription.active',
  ]);
});

test('revoked and unpaid: canceled in silence after the last day', async () => {
  const { api, id, untilRenewal } = await active();
  await (await api.wallet()).revoke();
  await api.advance(untilRenewal + 60);
  const { length } = await api.eventTypes();
  await api.advance(7 * DAY + HOUR);
  expect(await api.read(id)).toMatchObject({ status: 'canceled' });
  expect((await api.eventTypes()).slice(length)).toEqual(['payment.expired', 'subscription.canceled']);
});

test('a chain that cannot be read counts as no try', async () => {
  const { api, id, untilRenewal } = await active();
  await api.advance(untilRenewal - 600);
  const { length } = await api.eventTypes();
  await api.chain('erc20', { outage_seconds: 1_800 });
  await api.advance(900);
  expect(await api.read(id)).toMatchObject({ status: 'active' });
  expect((await api.eventTypes()).slice(length)).toEqual(['invoice.created']);
  await api.advance(3_000);
  expect(await api.latest(id)).toMatchObject({ status: 'paid' });
  expect((await api.eventTypes()).slice(length)).toEqual([
    'invoice.created',
    'payment.completed',
    'invoice.paid',
    'subscription.updated',
  ]);
});
