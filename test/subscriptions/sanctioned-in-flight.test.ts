import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addRiskAddress } from '../../packages/server/src/chains/addresses/index.ts';
import { paymentCommands } from '../../packages/server/src/operator/payments.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { addApprover } from '../../packages/server/src/stores/approvers/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { newMethod, TOKENS } from '../payment-methods/requests.ts';
import { all } from '../refunds/requests.ts';
import { startService, type TestService } from '../service.ts';
import { billing, DAY, item } from './billing.ts';
import { byHand } from './by-hand.ts';

// A wallet is sanctioned while a charge of it is on its way: what the charge takes is seized, as a deposit would be.

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const PRICE = 20 * TOKENS;
const MONTH = 32 * DAY;
const plan = { currency: 'USDT', items: [item(PRICE, 'month', 'USDT')] };
const PEOPLE = ['Ann', 'Bob'] as const;

/** A merchant with two people who decide, and a customer with a mandate. */
async function open() {
  const merchant = await service.createMerchant({ funds: 0n });
  const given = await newMethod(service, merchant, { cap: BigInt(10 * PRICE), balance: BigInt(100 * PRICE) });
  const { external_customer_id: customer } = await merchant.sdk.customers.retrieve(given.customer);
  const [api, jobs] = [billing(service, merchant), byHand(service, merchant)];
  const tokens = new Map<string, string>();
  for (const name of PEOPLE) tokens.set(name, await addApprover(service.app, merchant.merchantId, name));
  const subscribe = () =>
    api.make({
      ...plan,
      customer,
      payment_method_id: encodeId('paymentMethod', given.method.payment_method_id),
    });
  const ordered = async (id: string) => {
    await jobs.bill(id);
    return (await jobs.chargeOf(id)) ?? '';
  };
  const list = () =>
    addRiskAddress(
      service.app.db,
      { network: 'erc20', address: given.method.wallet_address, reason: 'test' },
      Date.now(),
    );
  /** Charges what is due, with a wallet that is listed as soon as the charge is sent. @returns its payment's UUID */
  const chargeSanctioned = async (id: string) => {
    const charge = await ordered(id);
    await jobs.send(charge);
    await list();
    await jobs.finish(charge);
    return charge;
  };
  const payment = (charge: string) => api.payment(encodeId('payment', charge));
  const decide = async (verb: 'release' | 'keep', charge: string) => {
    const { id, transactions } = await payment(charge);
    const txId = transactions[0]?.tx_id ?? '';
    for (const as of PEOPLE)
      await paymentCommands(service.app)[verb]({ payment: id, txId, as, token: tokens.get(as) ?? '' });
  };
  const balance = async () => {
    const { data } = await merchant.sdk.balances.retrieve();
    const row = data.find(({ currency }) => currency === 'USDT');
    return [row?.available, row?.held, row?.seized, row?.custody_hold.erc20];
  };
  const told = async () => {
    const before = (await api.eventTypes()).length;
    return async () => (await api.eventTypes()).slice(before);
  };
  return { merchant, api, jobs, subscribe, ordered, list, chargeSanctioned, payment, decide, balance, told };
}

/** An active subscription whose renewal is charged in vain, as its wallet was sanctioned on the way. */
async function frozenRenewal() {
  const opened = await open();
  const { jobs, subscribe, ordered, chargeSanctioned, told } = opened;
  const { id } = await subscribe();
  const first = await ordered(id);
  await jobs.send(first);
  await jobs.finish(first);
  await jobs.wait(MONTH);
  await jobs.bill(id);
  const news = await told();
  const charge = await chargeSanctioned(id);
  return { ...opened, id, charge, events: await news() };
}

test('what a first charge takes is seized and pays nothing; no charge follows, the page can still pay', async () => {
  const opened = await open();
  const { api, jobs, merchant, subscribe, chargeSanctioned, balance, told } = opened;
  const { id } = await subscribe();
  const news = await told();
  const charge = await chargeSanctioned(id);
  const shown = await opened.payment(charge);
  expect(shown).toMatchObject({
    status: 'frozen',
    amount_received: 0,
    decline_code: null,
    completed_at: null,
    transactions: [{ kind: 'seized', status: 'final', amount: PRICE }],
  });
  expect(await balance()).toEqual([0, 0, PRICE, PRICE]);
  expect(await news()).toEqual(['payment.failed', 'invoice.payment_failed']);
  const [event] = await all(merchant.sdk.events.list({ resource: shown.id, type: 'payment.failed' }));
  expect(event?.data).toMatchObject({
    object: { status: 'frozen' },
    previous_attributes: { status: 'processing' },
  });
  expect(await api.read(id)).toMatchObject({ status: 'incomplete' });
  const invoice = await api.latest(id);
  expect(invoice).toMatchObject({ status: 'open', payment_status: 'failed', amount_paid: 0 });
  // Told again, it is booked once.
  await jobs.settle(charge);
  expect(await balance()).toEqual([0, 0, PRICE, PRICE]);
  await jobs.wait(7_200);
  expect(await opened.ordered(id)).toBe('');
  for (const [path, body] of [
    [`/payment/${shown.id}/accept`, {}],
    ['/refunds/create', { refund_id: 'r-1', payment_id: shown.id }],
  ] as const)
    expect((await api.post(path, body)).status).toBe(400);
  await jobs.scanUntil(api.pay(invoice.payment_id ?? ''));
  await jobs.follow(invoice.id);
  expect(await api.read(id)).toMatchObject({ status: 'active' });
});

test('a renewal: past due, in the order of a failed charge', async () => {
  const { api, id, events, balance } = await frozenRenewal();
  expect(events).toEqual(['payment.failed', 'invoice.payment_failed', 'subscription.past_due']);
  expect(await api.read(id)).toMatchObject({ status: 'past_due' });
  expect(await balance()).toEqual([PRICE, 0, PRICE, PRICE]);
});

test('canceled with the charge on its way: first the events of the charge, then those of the cancel', async () => {
  const { api, jobs, subscribe, ordered, list, told, balance } = await open();
  const { id } = await subscribe();
  const first = await ordered(id);
  await jobs.send(first);
  await jobs.finish(first);
  await jobs.wait(MONTH);
  const charge = await ordered(id);
  await jobs.send(charge);
  await api.cancel(id);
  const news = await told();
  await list();
  await jobs.finish(charge);
  expect(await news()).toEqual([
    'payment.failed',
    'invoice.payment_failed',
    'subscription.past_due',
    'subscription.canceled',
  ]);
  expect(await api.latest(id)).toMatchObject({ status: 'void' });
  expect(await balance()).toEqual([PRICE, 0, PRICE, PRICE]);
});

describe('two people release', () => {
  test('it pays the invoice that is still open, in one change with what follows', async () => {
    const opened = await frozenRenewal();
    const { api, jobs, id, charge, decide, payment, balance, told } = opened;
    const invoice = await api.latest(id);
    const news = await told();
    await decide('release', charge);
    expect(await payment(charge)).toMatchObject({ status: 'processing', amount_received: PRICE });
    expect(await balance()).toEqual([PRICE, PRICE, 0, 0]);
    // The job of the charge may be told once more: what was released is not decided by the chain.
    await jobs.settle(charge);
    expect(await payment(charge)).toMatchObject({ status: 'processing' });
    await Promise.all([jobs.follow(invoice.id, charge), jobs.follow(invoice.id, charge)]);
    expect(await payment(charge)).toMatchObject({
      status: 'completed',
      transactions: [{ kind: 'counted', status: 'final' }],
    });
    expect(await api.latest(id)).toMatchObject({ status: 'paid', amount_paid: PRICE });
    expect(await api.read(id)).toMatchObject({ status: 'active' });
    expect(await balance()).toEqual([2 * PRICE, 0, 0, 0]);
    expect(await news()).toEqual(['payment.completed', 'invoice.paid', 'subscription.active']);
  });

  test('for an invoice that is void it is booked in held, refundable and never accepted', async () => {
    const { api, jobs, id, charge, decide, payment, balance } = await frozenRenewal();
    const invoice = await api.latest(id);
    await api.cancel(id);
    expect(await api.latest(id)).toMatchObject({ status: 'void' });
    await decide('release', charge);
    await jobs.follow(invoice.id, charge);
    expect(await payment(charge)).toMatchObject({ status: 'expired', amount_received: PRICE });
    expect(await balance()).toEqual([PRICE, PRICE, 0, 0]);
    const shown = encodeId('payment', charge);
    expect((await api.post(`/payment/${shown}/accept`)).status).toBe(400);
    const address = (await api.call('/test_helpers/addresses')).json as { erc20: { succeed: string } };
    const refund = { refund_id: `r-${shown}`, payment_id: shown, address: address.erc20.succeed };
    expect((await api.post('/refunds/create', refund)).status).toBe(200);
  });

  test('for an invoice whose page has paid it, in either order', async () => {
    for (const first of ['page', 'charge'] as const) {
      const { api, jobs, id, charge, decide, payment, balance } = await frozenRenewal();
      const invoice = await api.latest(id);
      await jobs.scanUntil(api.pay(invoice.payment_id ?? ''));
      if (first === 'page') await jobs.follow(invoice.id);
      await decide('release', charge);
      await jobs.follow(invoice.id, charge);
      expect(await payment(charge)).toMatchObject({ status: 'expired', amount_received: PRICE });
      expect(await api.latest(id)).toMatchObject({ status: 'paid', amount_paid: PRICE });
      expect(await api.read(id)).toMatchObject({ status: 'active' });
      expect(await balance()).toEqual([2 * PRICE, PRICE, 0, 0]);
    }
  });
});

test('two people keep: the charge is over, its invoice can still be paid', async () => {
  const { api, jobs, id, charge, decide, payment, balance } = await frozenRenewal();
  const invoice = await api.latest(id);
  await decide('keep', charge);
  await jobs.follow(invoice.id, charge);
  expect(await payment(charge)).toMatchObject({
    status: 'expired',
    amount_received: 0,
    transactions: [{ kind: 'seized' }],
  });
  expect(await balance()).toEqual([PRICE, 0, 0, 0]);
  expect(await api.latest(id)).toMatchObject({ status: 'open', payment_status: 'failed' });
  await jobs.scanUntil(api.pay(invoice.payment_id ?? ''));
  await jobs.follow(invoice.id);
  expect(await api.read(id)).toMatchObject({ status: 'active' });
  expect(await balance()).toEqual([2 * PRICE, 0, 0, 0]);
});

test('the ledger agrees with itself and with the chains after all of it', async () => {
  const report = await verifyLedger(service.app, () => {});
  expect([report.differences, report.unseen]).toEqual([[], []]);
});
