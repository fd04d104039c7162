import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../service.ts';
import { type Billing, billing, DAY, item } from './billing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.stop());

const open = async () => billing(service, await service.createMerchant({ funds: 0n }));

/** Time passes as in an outage of the service: nothing runs before its end. */
async function sleep({ merchant }: Billing, seconds: number): Promise<void> {
  await sql`update merchant set clock_offset = clock_offset + ${seconds}
    where merchant_id = ${merchant.merchantId}`.execute(service.app.db);
  await sql`update job set due_at_ms = due_at_ms - ${seconds * 1000}, revision = revision + 1
    where merchant_id = ${merchant.merchantId} and follows_clock`.execute(service.app.db);
}

test('fault 79: off for 3 months, then on: the current period is billed, the others are recorded as skipped', async () => {
  const api = await open();
  const { id, created } = await api.make({ items: [item(0)] });
  const { length } = await api.eventTypes();
  await sleep(api, 100 * DAY);
  await api.advance(5);
  const invoices = await api.invoices(id);
  const skipped = invoices.slice(1, -1);
  expect(skipped.length).toBeGreaterThan(1);
  for (const one of skipped)
    expect(one).toMatchObject({ status: 'void', payment_status: 'canceled', amount_paid: 0 });
  // I16: each period once, none missing.
  for (const [i, one] of invoices.entries())
    expect(one.period_start).toBe(invoices[i - 1]?.period_end ?? created);
  const last = await api.latest(id);
  const now = created + 100 * DAY;
  expect(last).toMatchObject({ id: invoices.at(-1)?.id, status: 'paid' });
  expect(last.period_start <= now && now < last.period_end).toBe(true);
  expect((await api.eventTypes()).slice(length)).toEqual([
    'invoice.created',
    'invoice.paid',
    'subscription.updated',
  ]);
});

test('fault 79: what was planned in the meantime is done first, and nothing is billed after it', async () => {
  const api = await open();
  const { id, created } = await api.make({ items: [item(0, 'day')] });
  await api.cancel(id, { cancel_at: created + 40 * DAY });
  await sleep(api, 90 * DAY);
  await api.advance(5);
  expect(await api.read(id)).toMatchObject({ status: 'canceled' });
  expect(await api.invoices(id)).toHaveLength(1);
});

test('while a renewal is unpaid, periods that pass are skipped; once it is paid the current one is billed', async () => {
  const api = await open();
  const { id } = await api.make({ items: [item(500, 'day')] });
  await api.pay((await api.latest(id)).payment_id ?? '');
  await api.advance(DAY + 5);
  const open1 = await api.latest(id);
  await api.advance(3.5 * DAY);
  expect(await api.invoices(id)).toHaveLength(2);
  expect(await api.read(id)).toMatchObject({ status: 'past_due', current_period_end: open1.period_start });
  await api.pay(open1.payment_id ?? '');
  await api.advance(2);
  const invoices = await api.invoices(id);
  expect(invoices.map(({ status }) => status)).toEqual(['paid', 'paid', 'void', 'void', 'open']);
  expect(await api.read(id)).toMatchObject({ status: 'active', current_period_start: open1.period_start });
  expect((await api.latest(id)).id).toBe(invoices.at(-1)?.id);
  expect((await api.eventTypes()).slice(-4)).toEqual([
    'payment.completed',
    'invoice.paid',
    'subscription.active',
    'invoice.created',
  ]);
});

test('a clock advance is no downtime: every period in it is billed in order', async () => {
  const api = await open();
  const { id } = await api.make({ items: [item(0, 'day')] });
  await api.advance(30 * DAY);
  const invoices = await api.invoices(id);
  expect(invoices).toHaveLength(31);
  expect(invoices.every(({ status }) => status === 'paid')).toBe(true);
});
