import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { methodCalls, newMethod, TOKENS } from '../payment-methods/requests.ts';
import { startService, type TestService } from '../service.ts';
import { billing, DAY, item } from './billing.ts';
import { byHand, secondMethod, untilHeldUp } from './by-hand.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const PRICE = 20 * TOKENS;
const MONTH = 32 * DAY;
const plan = { currency: 'USDT', items: [item(PRICE, 'month', 'USDT')] };

/** A merchant and a customer with a mandate of a wallet that holds so much. */
async function open(wallet: { balance?: number; cap?: number } = {}) {
  const merchant = await service.createMerchant({ funds: 0n });
  const { balance = 100 * PRICE, cap = 10 * PRICE } = wallet;
  const wish = { cap: BigInt(cap), balance: BigInt(balance) };
  const given = await newMethod(service, merchant, wish);
  const { external_customer_id: customer } = await merchant.sdk.customers.retrieve(given.customer);
  const [api, jobs] = [billing(service, merchant), byHand(service, merchant)];
  const subscribe = (methodId = given.method.payment_method_id) =>
    api.make({ ...plan, customer, payment_method_id: encodeId('paymentMethod', methodId) });
  /** Has the charge of a subscription ordered. @returns it */
  const charge = async (id: string) => {
    await jobs.bill(id);
    return (await jobs.chargeOf(id)) ?? '';
  };
  const available = async () => {
    const { data } = await merchant.sdk.balances.retrieve();
    const { available: spendable, held } = data.find(({ currency }) => currency === 'USDT') ?? {};
    return { spendable, held };
  };
  /** Pays what is open, from the order to the books. */
  const pay = async (id: string) => {
    const ordered = await charge(id);
    await jobs.send(ordered);
    await jobs.finish(ordered);
  };
  return { merchant, given, api, jobs, subscribe, charge, pay, available };
}

describe('canceled at once while the charge of a renewal is on its way', () => {
  /** An active subscription whose renewal was ordered and sent, and which is canceled then. */
  async function canceledOnTheWay() {
    const opened = await open();
    const { api, jobs, subscribe, charge, pay } = opened;
    const { id } = await subscribe();
    await pay(id);
    expect(await api.read(id)).toMatchObject({ status: 'active' });
    await jobs.wait(MONTH);
    const ordered = await charge(id);
    return { ...opened, id, ordered, told: (await api.eventTypes()).length };
  }

  async function cancel({ api, jobs, id }: Awaited<ReturnType<typeof canceledOnTheWay>>) {
    const waiting = await api.cancel(id);
    expect(waiting).toMatchObject({ status: 'active', cancel_at: expect.any(Number) });
    expect(waiting).not.toHaveProperty('canceled_at');
    // The job that the cancel has asked for finds that it has to wait.
    await jobs.bill(id);
    expect(await api.latest(id)).toMatchObject({ status: 'open', payment_status: 'processing' });
    expect((await api.post(`/invoices/${(await api.latest(id)).id}/pay`)).status).toBe(400);
  }

  test('what it brings is kept and its invoice paid, then it is canceled, in one change', async () => {
    const under = await canceledOnTheWay();
    const { api, jobs, id, ordered, told, available } = under;
    await jobs.send(ordered);
    await cancel(under);
    await jobs.finish(ordered);
    expect(await api.read(id)).toMatchObject({ status: 'canceled', canceled_at: expect.any(Number) });
    expect(await api.latest(id)).toMatchObject({ status: 'paid', amount_paid: PRICE });
    expect(await api.payment(encodeId('payment', ordered))).toMatchObject({
      status: 'completed',
      amount_received: PRICE,
    });
    expect(await available()).toEqual({ spendable: 2 * PRICE, held: 0 });
    expect((await api.eventTypes()).slice(told)).toEqual([
      'subscription.updated',
      'payment.completed',
      'invoice.paid',
      'subscription.updated',
      'subscription.canceled',
    ]);
  });

  test('one that was ordered and not yet sent is sent and kept as well', async () => {
    const under = await canceledOnTheWay();
    const { api, jobs, id, ordered, available } = under;
    await cancel(under);
    await jobs.send(ordered);
    await jobs.finish(ordered);
    expect(await api.read(id)).toMatchObject({ status: 'canceled' });
    expect(await available()).toEqual({ spendable: 2 * PRICE, held: 0 });
  });

  test('where it brings nothing its invoice is void, and it is canceled all the same', async () => {
    const under = await canceledOnTheWay();
    const { api, jobs, merchant, given, id, ordered, told, available } = under;
    await methodCalls(service, merchant).change(encodeId('paymentMethod', given.method.payment_method_id), {
      balance: 0,
    });
    await jobs.send(ordered);
    await cancel(under);
    await jobs.finish(ordered);
    expect(await api.read(id)).toMatchObject({ status: 'canceled' });
    expect(await api.latest(id)).toMatchObject({
      status: 'void',
      payment_status: 'canceled',
      amount_paid: 0,
    });
    expect(await available()).toEqual({ spendable: PRICE, held: 0 });
    expect((await api.eventTypes()).slice(told)).toEqual([
      'subscription.updated',
      'payment.failed',
      'invoice.payment_failed',
      'subscription.past_due',
      'subscription.canceled',
    ]);
  });

  test('whichever comes first, the cancel or the end of the charge: paid, canceled, and booked once', async () => {
    const under = await canceledOnTheWay();
    const { api, jobs, id, ordered, available } = under;
    await jobs.send(ordered);
    await jobs.mine();
    await jobs.send(ordered);
    await Promise.all([api.cancel(id), jobs.settle(ordered), jobs.settle(ordered), jobs.bill(id)]);
    await jobs.bill(id);
    expect(await api.read(id)).toMatchObject({ status: 'canceled' });
    expect(await api.latest(id)).toMatchObject({ status: 'paid' });
    expect(await available()).toEqual({ spendable: 2 * PRICE, held: 0 });
    const told = await api.eventTypes();
    for (const type of ['invoice.paid', 'payment.completed'])
      expect(told.filter((one) => one === type)).toHaveLength(2);
    expect(told.filter((one) => one === 'subscription.canceled')).toHaveLength(1);
  });
});

describe('a page that is paid while the mandate is charged once more', () => {
  /** A renewal that has failed once: its charge is on its way again as its page is paid, which it does not know yet. */
  async function paidTwice() {
    const opened = await open({ balance: PRICE, cap: PRICE });
    const { merchant, given, api, jobs, subscribe, charge, pay } = opened;
    const hold = (balance: number) =>
      methodCalls(service, merchant).change(encodeId('paymentMethod', given.method.payment_method_id), {
        balance,
      });
    const { id } = await subscribe();
    await pay(id);
    await jobs.wait(MONTH);
    await jobs.bill(id);
    const invoice = await api.latest(id);
    expect(invoice).toMatchObject({ status: 'open', payment_status: 'failed' });
    await hold(PRICE);
    await jobs.wait(DAY);
    const ordered = await charge(id);
    expect(ordered).not.toBe('');
    await jobs.scanUntil(api.pay(invoice.payment_id ?? ''));
    expect(await api.latest(id)).toMatchObject({ status: 'open', payment_status: 'processing' });
    return { ...opened, hold, id, invoice, ordered, told: (await api.eventTypes()).length };
  }

  const orders = ['charge', 'page'] as const;
  test.each(orders)('where the %s is settled first, the page pays and the charge is held', async (first) => {
    const { api, jobs, id, invoice, ordered, available, told } = await paidTwice();
    await jobs.send(ordered);
    if (first === 'page') await jobs.follow(invoice.id);
    await jobs.finish(ordered);
    expect(await available()).toEqual({ spendable: 2 * PRICE, held: PRICE });
    await jobs.follow(invoice.id);
    expect(await available()).toEqual({ spendable: 2 * PRICE, held: PRICE });
    expect(await api.latest(id)).toMatchObject({ status: 'paid', amount_paid: PRICE });
    expect(await api.read(id)).toMatchObject({ status: 'active' });
    const news = (await api.eventTypes()).slice(told);
    expect(news.filter((type) => type === 'invoice.paid')).toHaveLength(1);
    expect(news.filter((type) => type === 'subscription.active')).toHaveLength(1);
  });

  test.each(orders)(
    'where the %s is heard first, a charge that fails takes nothing of its cap',
    async (first) => {
      const { api, jobs, hold, id, invoice, ordered, available } = await paidTwice();
      await hold(0);
      await jobs.send(ordered);
      if (first === 'page') await jobs.follow(invoice.id);
      await jobs.finish(ordered);
      await jobs.follow(invoice.id);
      expect(await available()).toEqual({ spendable: 2 * PRICE, held: 0 });
      expect(await api.read(id)).toMatchObject({ status: 'active' });
      await hold(PRICE);
      await api.update(id, { items: [item(PRICE + PRICE / 2, 'month', 'USDT')] });
      await jobs.bill(id);
      expect(await jobs.chargeOf(id)).toEqual(expect.any(String));
    },
  );
});

describe('two subscriptions of one payer at the same time', () => {
  test('the cap counts for each of them: a mandate for one price a month pays both', async () => {
    const { api, jobs, subscribe, available } = await open({ cap: PRICE });
    const ids = [(await subscribe()).id, (await subscribe()).id];
    for (const round of [1, 2]) {
      await Promise.all(ids.map((id) => jobs.bill(id)));
      const charges = await Promise.all(ids.map((id) => jobs.chargeOf(id)));
      expect(charges).toEqual([expect.any(String), expect.any(String)]);
      for (const charge of charges) await jobs.send(charge ?? '');
      for (const charge of charges) await jobs.finish(charge ?? '');
      for (const id of ids) expect(await api.read(id)).toMatchObject({ status: 'active' });
      expect(await available()).toEqual({ spendable: 2 * round * PRICE, held: 0 });
      await jobs.wait(MONTH);
    }
  });

  test('what does not fit beside another charge of its own window waits for the next, whatever the other one left', async () => {
    const { api, jobs, subscribe, pay, available } = await open({ cap: PRICE });
    const [first, second] = [await subscribe(), await subscribe()];
    for (const { id } of [first, second]) await pay(id);
    const told = (await api.eventTypes()).length;
    await api.update(first.id, { items: [item(PRICE + PRICE / 2, 'month', 'USDT')] });
    await Promise.all([jobs.bill(first.id), jobs.bill(second.id)]);
    expect(await jobs.chargeOf(first.id)).toBeUndefined();
    expect(await api.latest(first.id)).toMatchObject({
      billing_reason: 'subscription_update',
      status: 'open',
      payment_status: 'pending',
    });
    expect(await api.read(first.id)).toMatchObject({ status: 'active' });
    expect((await api.eventTypes()).slice(told)).toEqual(['subscription.updated', 'invoice.created']);
    expect(await available()).toEqual({ spendable: 2 * PRICE, held: 0 });
    await jobs.wait(MONTH);
    // In the next window the difference goes; the other's cap is as whole as before.
    expect(await jobs.chargeOf(second.id)).toBeUndefined();
    await jobs.bill(second.id);
    expect(await jobs.chargeOf(second.id)).toEqual(expect.any(String));
    await pay(first.id);
    expect((await available()).spendable).toBeGreaterThan(2 * PRICE);
  });

  const wallets = [
    { name: 'one method', of: async ({ given }: Awaited<ReturnType<typeof open>>) => given.method },
    {
      name: 'two methods of one wallet',
      of: ({ merchant, given }: Awaited<ReturnType<typeof open>>) => secondMethod(service, merchant, given),
    },
  ];
  test.for(wallets)(
    '$name, coins for one: the other waits for it, and fails when they are gone',
    async ({ of }) => {
      const opened = await open({ balance: PRICE });
      const { api, jobs, subscribe, available } = opened;
      const first = await subscribe();
      const second = await subscribe((await of(opened)).payment_method_id);
      const ordered = (await service.app.db.selectFrom('transfer').select('transfer_id').execute()).length;
      // The first order stands uncommitted while the second one is decided.
      let other: Promise<unknown> | undefined;
      await jobs.bill(first.id, async (tx) => {
        if ((await tx.selectFrom('transfer').select('transfer_id').execute()).length === ordered) return;
        other ??= jobs.bill(second.id);
        await untilHeldUp(service, other);
      });
      await other;
      const charge = (await jobs.chargeOf(first.id)) ?? '';
      expect(charge).not.toBe('');
      expect(await jobs.chargeOf(second.id)).toBeUndefined();
      expect(await api.latest(second.id)).toMatchObject({ status: 'open', payment_status: 'pending' });
      await jobs.send(charge);
      await jobs.finish(charge);
      expect(await api.read(first.id)).toMatchObject({ status: 'active' });
      await jobs.wait(600);
      await jobs.bill(second.id);
      expect(await jobs.chargeOf(second.id)).toBeUndefined();
      expect(await api.latest(second.id)).toMatchObject({ status: 'open', payment_status: 'failed' });
      expect(await available()).toEqual({ spendable: PRICE, held: 0 });
    },
  );
});
