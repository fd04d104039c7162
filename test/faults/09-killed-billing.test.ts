import { afterAll, beforeAll, expect, test } from 'vitest';
import { LEDGER_CHECKS } from '../ledger-checks.ts';
import { FULL, scaled } from '../scale.ts';
import { World } from './world.ts';

const DAY = 86_400;
const SUBSCRIPTIONS = scaled(12, 3);
/** A point is passed by each subscription; the later passes are in the middle of the run. */
const ALL_POINTS = [
  'billing.locked',
  'billing.invoices-written',
  'billing.events-recorded',
  'billing.step-committed',
  'billing.mandate-read',
  'billing.charge-ordered',
  'billing.charge-locked',
  'billing.charge-settled',
];
const POINTS = FULL
  ? ALL_POINTS.flatMap((point) => [point, `${point}:2`, `${point}:3`])
  : ALL_POINTS.filter((_, at) => at % 2 === 1);
const DAYS_MAX = 20;

let world: World;
const ids: string[] = [];

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 3 });
  const item = {
    price_data: { currency: 'USD', product: 'Day', unit_amount: 300, recurring: { interval: 'day' } },
  };
  for (let n = 0; n < SUBSCRIPTIONS; n++) {
    const body = { customer: `customer-${n}`, currency: 'USD', items: [item] };
    const made = await world.merchant.request('POST', '/subscriptions/create', {
      body,
      idempotencyKey: `key-${n}`,
    });
    const { id } = made.answer as { id: string };
    const mandate = { currency: 'USDT', network: 'erc20' };
    const { status } = await world.merchant.insist(
      'POST',
      `/test_helpers/subscriptions/${id}/authorize`,
      mandate,
    );
    if (status !== 'active') throw new Error(`the subscription is ${String(status)}`);
    ids.push(id);
  }
}, 240_000);
afterAll(() => world?.close());

/** A day passes, and all that is due in it is done by whoever lives. */
async function passDay(): Promise<void> {
  for (let left = DAY; left > 0; ) {
    const { now: before } = await world.merchant.insist('GET', '/test_helpers/clock');
    const { now, done } = await world.merchant.insist('POST', '/test_helpers/clock/advance', {
      seconds: left,
    });
    if (done === true) return;
    left -= Number(now) - Number(before);
  }
}

test.each(POINTS)(
  'fault 9, L2: three workers at once, one of which dies at %s of a billing run',
  async (at) => {
    const [doomed] = world.workers;
    if (doomed === undefined) throw new Error('there are three workers');
    await doomed.kill();
    await doomed.start({ crashPoint: at });
    for (let day = 0; day < DAYS_MAX && doomed.isUp; day++) await passDay();
    expect(await doomed.ended).toEqual({ signal: 'SIGKILL', code: null });
    await doomed.start();
    await passDay();
  },
  180_000,
);

test('fault 9, I16: each period of each subscription has one invoice, one charge and one event', async () => {
  const query = (text: string) => world.database.query<Record<string, unknown>>(text);
  const gaps = await query(`
    select subscription_id, period_start from (
      select subscription_id, period_start, status, skipped,
             lag(period_end) over (partition by subscription_id order by period_start) as last_end
      from invoice
    ) as i where last_end is not null and last_end <> period_start or skipped or status <> 'paid'`);
  expect(gaps).toEqual([]);
  const charges = await query(`
    select i.invoice_id from invoice i left join payment p
      on p.merchant_id = i.merchant_id and p.invoice_id = i.invoice_id and p.status = 'completed'
    group by i.invoice_id having count(p.payment_id) <> 1`);
  expect(charges).toEqual([]);
  const told = await query(`
    select resource, type, count(*) from event where type in ('invoice.created', 'invoice.paid')
    group by resource, type having count(*) <> 1`);
  expect(told).toEqual([]);
  const [{ invoices = 0, periods = 0 } = {}] = await query(`
    select count(*)::int as invoices,
           (select sum((current_period_end - billing_cycle_anchor) / ${DAY})::int from subscription) as periods
    from invoice`);
  expect(invoices).toBe(periods);
  expect(Number(invoices)).toBeGreaterThan(SUBSCRIPTIONS * POINTS.length);
  for (const [check, text] of Object.entries(LEDGER_CHECKS))
    expect([check, await query(text)]).toEqual([check, []]);
}, 180_000);
