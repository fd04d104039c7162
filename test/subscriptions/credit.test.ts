import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventTypesOf } from '../checkout/requests.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { BLOCKS_BY_HAND, startService, type TestService } from '../service.ts';
import { type Billing, billing, DAY, item } from './billing.ts';

let service: TestService;
let still: TestService;
beforeAll(async () => {
  service = await startService({ worker: true });
  still = await startService({ worker: true, simchainTiming: BLOCKS_BY_HAND });
});
afterEach(async () => {
  for (const one of [service, still]) {
    await expectLedgerWhole(one);
    await expectCreditsWhole(one);
  }
});
afterAll(async () => {
  await service.stop();
  await still.stop();
});

/** No subscription has a credit but of what its paid invoices gave back, and those no more than was paid of them. */
async function expectCreditsWhole(service: TestService): Promise<void> {
  const wrong = await asOwner(
    service,
    `select s.subscription_id from subscription s
     left join invoice i on i.merchant_id = s.merchant_id and i.subscription_id = s.subscription_id
     group by s.merchant_id, s.subscription_id, s.credit_amount
     having s.credit_amount <> coalesce(sum(i.credited_amount - i.credit_applied_amount), 0)
       or coalesce(sum(i.credited_amount), 0) > coalesce(sum(i.amount_due) filter (where i.status = 'paid'), 0)`,
  );
  expect(wrong).toEqual([]);
}

/** 10.00 USD a month, of which the first is paid on its page. */
async function active(interval: 'day' | 'month' = 'month', on = service) {
  const api = billing(on, await on.createMerchant({ funds: 0n }));
  const { id } = await api.make({ items: [item(1_000, interval)] });
  await api.pay(pageOf(await api.latest(id)));
  await expect.poll(async () => (await api.read(id)).status, SOON).toBe('active');
  const change = (amount: number) => api.update(id, { items: [item(amount, interval)] });
  return { api, id, change };
}
/** Long enough for what the workers do. */
const SOON = { timeout: 20_000 };
const pageOf = ({ payment_id: page = '' }: { payment_id?: string }) => page;
const paidAbove0 = async (api: Billing, id: string) =>
  (await api.invoices(id)).filter(({ status, amount_due: due }) => status === 'paid' && due > 0);

test('a dear plan that nobody paid is no credit for the next one', async () => {
  const { api, id, change } = await active();
  await change(200_000);
  const dear = await api.latest(id);
  expect(dear).toMatchObject({ status: 'open', billing_reason: 'subscription_update' });
  await change(1_000);
  const [, reduced] = await api.invoices(id);
  expect(reduced).toMatchObject({ id: dear.id, payment_id: dear.payment_id });
  // What it cost for the second or two in between, if anything.
  expect(reduced?.amount_due).toBeLessThan(5);
  await change(100_000);
  const last = await api.latest(id);
  expect(last.status).toBe('open');
  expect(last.amount_due).toBeGreaterThan(98_000);
  expect(await paidAbove0(api, id)).toHaveLength(1);
});

test('a daily plan that goes up and down unpaid has no period paid by that', async () => {
  const { api, id, change } = await active('day');
  await change(500_000);
  await change(1_000);
  await api.advance(2 * DAY);
  const cycles = (await api.invoices(id)).filter((one) => one.billing_reason === 'subscription_cycle');
  expect(cycles.map(({ status, amount_due: due }) => [status, due])).toEqual([['open', 1_000]]);
  expect(await paidAbove0(api, id)).toHaveLength(1);
});

test('the page of a reduced invoice asks for less, at the rate that was shown', async () => {
  const { api, id, change } = await active();
  await change(200_000);
  const dear = await api.latest(id);
  const page = pageOf(dear);
  await api.pay(page, { amount: 100_000_000 });
  const before = await api.payment(page);
  expect(before).toMatchObject({ amount: dear.amount_due, amount_received: 100_000_000 });
  await change(50_000);
  const reduced = await api.latest(id);
  expect(reduced.id).toBe(dear.id);
  const after = await api.payment(page);
  expect(after).toMatchObject({ amount: reduced.amount_due, status: 'pending', address: before.address });
  expect(after.exchange_rate).toBe(before.exchange_rate);
  expect(after.pay_amount).toBeLessThan((before.pay_amount ?? 0) / 3);
  await api.pay(page);
  await expect.poll(async () => (await api.latest(id)).status, SOON).toBe('paid');
  expect(await api.latest(id)).toMatchObject({ amount_paid: reduced.amount_due });
});

test('what has been received of it may be enough once it asks for less', async () => {
  const { api, id, change } = await active();
  await change(200_000);
  const { id: dear, payment_id: page = '' } = await api.latest(id);
  await api.pay(page, { amount: 500_000_000 });
  await change(11_000);
  await expect.poll(async () => (await api.latest(id)).status, SOON).toBe('paid');
  expect(await api.latest(id)).toMatchObject({ id: dear });
  expect((await api.payment(page)).exceptions).toEqual(['overpaid']);
  expect(await eventTypesOf(api.merchant, (await api.payment(page)).id)).toEqual(['payment.completed']);
});

test('money on its way for the whole invoice is a credit once it is final', async () => {
  const { api, id, change } = await active('month', still);
  await change(200_000);
  const { payment_id: page = '', amount_due: due } = await api.latest(id);
  await api.pay(page, { final: false });
  await expect.poll(async () => (await api.latest(id)).payment_status, SOON).toBe('processing');
  await change(1_000);
  expect(await api.latest(id)).toMatchObject({ status: 'open', amount_due: due });
  await api.chain('erc20', { mine: 5 });
  await expect.poll(async () => (await api.latest(id)).status, SOON).toBe('paid');
  // The next change is paid by it.
  await change(150_000);
  expect(await api.latest(id)).toMatchObject({ status: 'paid', amount_due: 0 });
});

test('money that vanished again leaves the reduced amount due', async () => {
  const { api, id, change } = await active('month', still);
  await change(200_000);
  const { payment_id: page = '', amount_due: due } = await api.latest(id);
  await api.pay(page, { final: false });
  await expect.poll(async () => (await api.latest(id)).payment_status, SOON).toBe('processing');
  await change(100_000);
  await api.chain('erc20', { reorg: 3 });
  await expect.poll(async () => (await api.latest(id)).amount_due, SOON).toBeLessThan(due * 0.6);
  await expect.poll(async () => (await api.payment(page)).amount, SOON).toBeLessThan(due * 0.6);
});

test('random changes of plans, of whom some pay and some never do', async () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  for (const pays of [false, true]) {
    const { api, id, change } = await active('day');
    for (let n = 0; n < 12; n++) {
      const { status } = await api.read(id);
      if (status === 'canceled') break;
      await change([0, 1_000, 30_000, 200_000][random(4)] ?? 0);
      const open = (await api.invoices(id)).find((one) => one.status === 'open');
      if (pays && open !== undefined && random(2) > 0) await api.pay(pageOf(open));
      await api.advance(random(30) * 3_600);
      await expectCreditsWhole(service);
    }
    if (!pays) expect(await paidAbove0(api, id)).toHaveLength(1);
  }
}, 60_000);
