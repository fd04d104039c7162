import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { type Billing, billing, DAY, HOUR, item } from './billing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const open = async () => billing(service, await service.createMerchant({ funds: 0n }));
/** More than a transaction needs to become final once its network answers. */
const A_WHILE = HOUR;
const OUTAGE = DAY;

const pageOf = async (api: Billing, id: string) => (await api.latest(id)).payment_id ?? '';
async function untilStatus(api: Billing, id: string, status: string): Promise<void> {
  await expect.poll(async () => (await api.read(id)).status, { timeout: 20_000 }).toBe(status);
}

/** Its network is away from now on for a day, in which the payer pays the open invoice on its page. */
async function payUnseen(api: Billing, id: string): Promise<void> {
  await api.chain('erc20', { outage_seconds: OUTAGE });
  await api.pay(await pageOf(api, id));
}

/** A subscription that was paid on its first page, so many seconds after the period that follows has begun. */
async function renewed(api: Billing, later: number) {
  const { id } = await api.make();
  await api.pay(await pageOf(api, id));
  await api.advance(A_WHILE);
  const { current_period_end: end = 0 } = await api.read(id);
  const { now } = (await api.call('/test_helpers/clock')).json as { now: number };
  await api.advance(end - now + later);
  expect(await api.latest(id)).toMatchObject({ billing_reason: 'subscription_cycle', status: 'open' });
  return { id, end };
}

describe('what was sent in time while its network could not be read', () => {
  test('pays the first invoice, whose 23 hours pass before it is seen', async () => {
    const api = await open();
    const { id } = await api.make();
    await api.advance(10 * HOUR);
    await payUnseen(api, id);
    await api.advance(14 * HOUR);
    expect(await api.read(id)).toMatchObject({ status: 'incomplete' });
    await api.advance(10 * HOUR + A_WHILE);
    await untilStatus(api, id, 'active');
    expect(await api.latest(id)).toMatchObject({ status: 'paid', amount_paid: 2_000 });
  }, 60_000);

  test('pays a renewal, which was not overdue at its due date', async () => {
    const api = await open();
    const { id, end } = await renewed(api, 2 * DAY + 12 * HOUR);
    const { length } = await api.eventTypes();
    await payUnseen(api, id);
    await api.advance(20 * HOUR);
    expect(await api.read(id)).toMatchObject({ status: 'active' });
    await api.advance(4 * HOUR + A_WHILE);
    await expect.poll(async () => (await api.latest(id)).status, { timeout: 20_000 }).toBe('paid');
    expect(await api.read(id)).toMatchObject({ status: 'active', current_period_start: end });
    expect((await api.eventTypes()).slice(length)).toEqual([
      'payment.completed',
      'invoice.paid',
      'subscription.updated',
    ]);
  }, 60_000);

  test('pays a renewal whose days of dunning pass before it is seen', async () => {
    const api = await open();
    const { id } = await renewed(api, 9 * DAY + 12 * HOUR);
    expect(await api.read(id)).toMatchObject({ status: 'past_due' });
    await payUnseen(api, id);
    await api.advance(20 * HOUR);
    expect(await api.read(id)).toMatchObject({ status: 'past_due' });
    await api.advance(4 * HOUR + A_WHILE);
    await untilStatus(api, id, 'active');
  }, 60_000);
});

test('on a network that answers a deadline is kept to the second, though it was read just before', async () => {
  const api = await open();
  const { id } = await api.make();
  await api.pay(await pageOf(api, id), { amount: 1 });
  const { created } = await api.read(id);
  const { now } = (await api.call('/test_helpers/clock')).json as { now: number };
  await api.advance(created + 23 * HOUR - 30 - now);
  expect(await api.read(id)).toMatchObject({ status: 'incomplete' });
  await api.advance(30);
  expect(await api.read(id)).toMatchObject({ status: 'incomplete_expired' });
});

test('a mandate on another network is charged while the due date of the page waits for its own', async () => {
  const api = await open();
  const { id } = await renewed(api, 2 * DAY + 12 * HOUR);
  await api.pay(await pageOf(api, id), { network: 'trc20', amount: 1 });
  await api.chain('trc20', { outage_seconds: OUTAGE });
  await api.advance(20 * HOUR);
  expect(await api.read(id)).toMatchObject({ status: 'active' });
  const { length } = await api.eventTypes();
  expect(await api.authorize(id)).toMatchObject({ status: 'active' });
  expect(await api.latest(id)).toMatchObject({ status: 'paid' });
  expect((await api.eventTypes()).slice(length)).not.toContain('subscription.past_due');
  await api.chain('trc20', { outage_seconds: 0 });
}, 60_000);

test('a period is billed as it begins, though the due date of another page waits for its network', async () => {
  const api = await open();
  const { id } = await api.make();
  await api.pay(await pageOf(api, id));
  await api.advance(A_WHILE);
  const { current_period_end: end = 0 } = await api.read(id);
  const clock = async () => ((await api.call('/test_helpers/clock')).json as { now: number }).now;
  await api.advance(end - 3 * DAY - HOUR - (await clock()));
  await api.update(id, { items: [item(9_000)] });
  const other = await api.latest(id);
  expect(other).toMatchObject({ billing_reason: 'subscription_update', status: 'open' });
  await api.pay(other.payment_id ?? '', { network: 'trc20', amount: 1 });
  await api.advance(end - HOUR - 60 - (await clock()));
  await api.chain('trc20', { outage_seconds: OUTAGE });
  await api.advance(5 * HOUR);
  const cycle = await api.latest(id);
  expect(cycle).toMatchObject({ billing_reason: 'subscription_cycle', period_start: end });
  expect(cycle.created - end).toBeLessThan(10);
  expect(await api.read(id)).toMatchObject({ status: 'active' });
  await api.advance(OUTAGE);
  await untilStatus(api, id, 'past_due');
}, 60_000);

test('a page that was opened and not paid is given up once its network answers, and the clock runs on meanwhile', async () => {
  const api = await open();
  const { id } = await api.make();
  await api.pay(await pageOf(api, id), { amount: 1 });
  await api.advance(A_WHILE);
  await api.chain('erc20', { outage_seconds: OUTAGE });
  await api.advance(23 * HOUR);
  expect(await api.read(id)).toMatchObject({ status: 'incomplete' });
  await api.advance(A_WHILE);
  await untilStatus(api, id, 'incomplete_expired');
  await api.advance(400 * DAY);
  expect(await api.invoices(id)).toHaveLength(1);
}, 60_000);
