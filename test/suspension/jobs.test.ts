import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sweepDeposits } from '../../packages/server/src/custody/sweep.ts';
import { changeSandboxWallet, readWallet } from '../../packages/server/src/payment-methods/mandates/index.ts';
import { processBatch, settleBatch } from '../../packages/server/src/payouts/pay-batch.ts';
import { transact } from '../../packages/server/src/platform/db/transact.ts';
import type { Job, JobRun } from '../../packages/server/src/platform/jobs/index.ts';
import { sendRefund } from '../../packages/server/src/refunds/send-refund.ts';
import { getMerchant, setMerchantStatus } from '../../packages/server/src/stores/index.ts';
import { retryCharges } from '../../packages/server/src/subscriptions/follow-page.ts';
import { decodeId, encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { sendTransfers } from '../../packages/server/src/transfers/index.ts';
import { jobHandlers } from '../../packages/server/src/workers.ts';
import { jobOf } from '../job.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { methodCalls, newMethod, TOKENS } from '../payment-methods/requests.ts';
import { shop, TOKEN } from '../refunds/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { billing, DAY, item } from '../subscriptions/billing.ts';
import { byHand } from '../subscriptions/by-hand.ts';
import { newPayout } from '../transfers/payouts.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const suspend = ({ merchantId }: TestMerchant) => setMerchantStatus(service.app, merchantId, 'suspended');
const resume = ({ merchantId }: TestMerchant) => setMerchantStatus(service.app, merchantId, 'active');

/** The jobs of a merchant, run when a test says so. */
function jobsOf({ merchantId }: TestMerchant) {
  const { app } = service;
  const step = <T>(change: Parameters<typeof transact<T>>[1]) => transact(app.db, change);
  const run: JobRun = { step, finish: step, onRevision: () => {}, signal: new AbortController().signal };
  const job = (payload: Job['payload']) => jobOf(merchantId, payload, app.clock.nowMs());
  return {
    process: (batchId: string) => processBatch(app, job({ batchId }), run),
    settle: (groupId: string) => settleBatch(app, job({ groupId }), run),
    send: (groupId: string) => sendTransfers(app, job({ groupId }), run),
    refund: (refundId: string) => sendRefund(app, job({ refundId }), run),
    retry: (paymentMethodId: string) => retryCharges(app, job({ paymentMethodId }), run),
    sweep: () => sweepDeposits(app, job({ network: 'erc20' }), run),
  };
}

const attemptsOf = async ({ merchantId }: TestMerchant) =>
  await asOwner<{ status: string }>(service, 'select status from transfer_attempt where merchant_id = $1', [
    merchantId,
  ]);
const AGAIN = { againAtMs: expect.any(Number), followsClock: false };

test('a payout that was submitted before waits, and continues afterwards', async () => {
  const { merchant, batchId, chain } = await newPayout(service, 'erc20');
  const jobs = jobsOf(merchant);
  const id = decodeId('payoutBatch', batchId) ?? '';
  await suspend(merchant);
  expect(await jobs.process(id)).toEqual(AGAIN);
  await resume(merchant);
  expect((await merchant.sdk.payouts.retrieve(batchId)).status).toBe('pending');
  expect(await jobs.process(id)).toBe('done');
  // Taken, and nothing of it sent.
  await suspend(merchant);
  await jobs.send(id);
  expect(await attemptsOf(merchant)).toEqual([]);
  await resume(merchant);
  await jobs.send(id);
  expect(await attemptsOf(merchant)).not.toEqual([]);
  // What was sent is followed to its end.
  await suspend(merchant);
  await chain.mine(5);
  await jobs.send(id);
  await jobs.settle(id);
  await resume(merchant);
  expect((await merchant.sdk.payouts.retrieve(batchId)).status).toBe('partially_completed');
});

test('a refund that was made before waits, and so do sweeps of what came in', async () => {
  const { merchant, paid, refund, read } = await shop(service, { funds: 1_000n * BigInt(TOKEN) });
  const jobs = jobsOf(merchant);
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const payment = paid();
  await byHand(service, merchant).scanUntil(payment);
  const { id: paymentId } = await payment;
  await refund({ refund_id: 'r', payment_id: paymentId, address: erc20.succeed });
  const [row] = await asOwner<{ refund_id: string }>(
    service,
    'select refund_id from refund where merchant_id = $1',
    [merchant.merchantId],
  );
  const id = row?.refund_id ?? '';
  await suspend(merchant);
  expect(await jobs.refund(id)).toEqual(AGAIN);
  await jobs.sweep();
  const sweeps = await asOwner<{ group_id: string }>(
    service,
    `select distinct group_id from transfer where merchant_id = $1 and owner_type = 'sweep'`,
    [merchant.merchantId],
  );
  for (const { group_id: groupId } of sweeps) await jobs.send(groupId);
  expect(await attemptsOf(merchant)).toEqual([]);
  await resume(merchant);
  expect((await read('r')).status).toBe('pending');
  expect(await jobs.refund(id)).toBe('done');
  await jobs.send(id);
  expect((await read('r')).status).toBe('processing');
  expect(await attemptsOf(merchant)).toHaveLength(1);
});

const PRICE = 20 * TOKENS;

/** An active subscription that a mandate pays each month. */
async function subscribed() {
  const merchant = await service.createMerchant({ funds: 0n });
  const wish = { cap: BigInt(10 * PRICE), balance: BigInt(100 * PRICE) };
  const given = await newMethod(service, merchant, wish);
  const { external_customer_id: customer } = await merchant.sdk.customers.retrieve(given.customer);
  const [api, jobs] = [billing(service, merchant), byHand(service, merchant)];
  const { id } = await api.make({
    currency: 'USDT',
    items: [item(PRICE, 'month', 'USDT')],
    customer,
    payment_method_id: encodeId('paymentMethod', given.method.payment_method_id),
  });
  const pay = async () => {
    await jobs.bill(id);
    const charge = (await jobs.chargeOf(id)) ?? '';
    await jobs.send(charge);
    await jobs.finish(charge);
  };
  await pay();
  return { merchant, given, api, jobs, id, pay };
}

test('renewals are recorded as skipped, no charge is made, and the next period is billed at its time', async () => {
  const { merchant, api, jobs, id, pay } = await subscribed();
  await suspend(merchant);
  for (const days of [32, 31]) {
    await jobs.wait(days * DAY);
    await jobs.bill(id);
  }
  expect(await jobs.chargeOf(id)).toBeUndefined();
  await resume(merchant);
  await jobs.bill(id);
  expect((await api.invoices(id)).map(({ status }) => status)).toEqual(['paid', 'void', 'void']);
  expect(await api.read(id)).toMatchObject({ status: 'active' });
  await jobs.wait(31 * DAY);
  await pay();
  expect((await api.invoices(id)).map(({ status }) => status)).toEqual(['paid', 'void', 'void', 'paid']);
});

test('an open invoice waits without a try, and its days of dunning begin to count again', async () => {
  const { merchant, given, api, jobs, id } = await subscribed();
  await methodCalls(service, merchant).change(encodeId('paymentMethod', given.method.payment_method_id), {
    balance: 0,
  });
  await jobs.wait(32 * DAY);
  await jobs.bill(id);
  expect(await api.read(id)).toMatchObject({ status: 'past_due' });
  const failures = async () => (await api.eventTypes()).filter((type) => type === 'payment.failed').length;
  expect(await failures()).toBe(1);
  await suspend(merchant);
  await jobs.wait(30 * DAY);
  await jobs.bill(id);
  await resume(merchant);
  await jobs.bill(id);
  expect(await failures()).toBe(1);
  expect(await api.read(id)).toMatchObject({ status: 'past_due' });
  await jobs.wait(2 * DAY);
  await jobs.bill(id);
  expect(await failures()).toBe(2);
  expect(await api.read(id)).toMatchObject({ status: 'past_due' });
});

test('what is tried at once while its merchant is suspended is tried as that ends, not so much later again', async () => {
  const { merchant, given, api, jobs, id } = await subscribed();
  const method = encodeId('paymentMethod', given.method.payment_method_id);
  await methodCalls(service, merchant).change(method, { balance: 0 });
  await jobs.wait(32 * DAY);
  await jobs.bill(id);
  expect(await api.read(id)).toMatchObject({ status: 'past_due' });
  await suspend(merchant);
  await jobs.wait(29 * DAY);
  const row = await getMerchant(service.app.db, merchant.merchantId);
  await changeSandboxWallet(given.chain, given.method, { balance: BigInt(100 * PRICE) });
  await readWallet(service.app, row, given.method);
  await jobsOf(merchant).retry(given.method.payment_method_id);
  await jobs.bill(id);
  expect(await jobs.chargeOf(id)).toBeUndefined();
  await jobs.wait(DAY);
  await resume(merchant);
  await jobs.bill(id);
  const charge = (await jobs.chargeOf(id)) ?? '';
  await jobs.send(charge);
  await jobs.finish(charge);
  expect(await api.read(id)).toMatchObject({ status: 'active' });
});

/** A charge of a renewal that is ordered and has no transaction yet. */
async function queued() {
  const subscription = await subscribed();
  const { jobs, id, merchant, api } = subscription;
  await jobs.wait(32 * DAY);
  await jobs.bill(id);
  const charge = (await jobs.chargeOf(id)) ?? '';
  const before = (await attemptsOf(merchant)).length;
  const expectEnded = async () => {
    expect(await jobs.chargeOf(id)).toBeUndefined();
    expect(await attemptsOf(merchant)).toHaveLength(before);
    const [invoice] = await asOwner(
      service,
      `select tries, dunning_days_spent, overdue_from, charge_method_id from invoice
       where merchant_id = $1 and status = 'open'`,
      [merchant.merchantId],
    );
    const untried = { tries: 0, dunning_days_spent: 0, overdue_from: null, charge_method_id: null };
    expect(invoice).toEqual(untried);
    const payment = await merchant.sdk.payments.retrieve(encodeId('payment', charge));
    expect(payment).toMatchObject({ status: 'failed', decline_code: 'network_unavailable' });
    expect(await api.read(id)).toMatchObject({ status: 'active' });
  };
  return { ...subscription, charge, expectEnded };
}

test('a charge that is queued as its merchant is suspended is not sent later at its old price, but ordered anew', async () => {
  const { merchant, jobs, id, charge, expectEnded, pay } = await queued();
  await suspend(merchant);
  await jobs.send(charge);
  await jobs.settle(charge);
  await jobs.wait(10 * DAY);
  await jobs.bill(id);
  await resume(merchant);
  await jobs.send(charge);
  await expectEnded();
  await jobs.wait(200);
  await pay();
  expect(await jobs.chargeOf(id)).toBeUndefined();
});

test('nor where nothing ran while its merchant was suspended', async () => {
  const { merchant, jobs, charge, expectEnded } = await queued();
  await suspend(merchant);
  await jobs.wait(10 * DAY);
  await resume(merchant);
  await jobs.send(charge);
  await jobs.settle(charge);
  await expectEnded();
});

test('a charge that waited for us until long after its period is no try of its payer, and ordered anew', async () => {
  const { jobs, charge, expectEnded, pay } = await queued();
  await jobs.wait(38 * DAY);
  await jobs.send(charge);
  await jobs.settle(charge);
  await expectEnded();
  await jobs.wait(200);
  await pay();
});

test('a charge that is ordered after a suspension is sent', async () => {
  const { merchant, jobs, id, charge } = await subscribed().then(async (made) => {
    await suspend(made.merchant);
    await resume(made.merchant);
    await made.jobs.wait(32 * DAY);
    await made.jobs.bill(made.id);
    return { ...made, charge: (await made.jobs.chargeOf(made.id)) ?? '' };
  });
  await jobs.send(charge);
  await jobs.finish(charge);
  expect(await attemptsOf(merchant)).toHaveLength(2);
  expect(await jobs.chargeOf(id)).toBeUndefined();
});

test('how long a merchant was suspended is counted once, however often it is said', async () => {
  const { merchantId, ...merchant } = await service.createMerchant({ funds: 0n });
  const own = { merchantId, ...merchant };
  const jobs = byHand(service, own);
  const read = async () =>
    await asOwner(
      service,
      `select status, suspended_at is null as "isActive", suspended_seconds / ${DAY} as days from merchant where merchant_id = $1`,
      [merchantId],
    );
  await suspend(own);
  await jobs.wait(2 * DAY);
  await suspend(own);
  await resume(own);
  await jobs.wait(DAY);
  await resume(own);
  await suspend(own);
  await jobs.wait(DAY);
  await resume(own);
  expect(await read()).toEqual([{ status: 'active', isActive: true, days: 3n }]);
});

/** Would begin something, and waits; a test above tries each. */
const WAITING = ['payouts.process', 'refunds.send', 'transfers.send', 'subscriptions.due'];
/** Order, at most, what `transfers.send` then holds back. */
const ORDERING = ['checkout.credited', 'transfers.short', 'payment_methods.news'];
/** Follow what was begun or came in, end what is over, or look. */
const FOLLOWING = [
  'charge.decided',
  'checkout.expire',
  'checkout.invoice-news',
  'checkout.quote',
  'checkout.scan',
  'custody.audit',
  'custody.watch-tank',
  'events.maintain-days',
  'mail.payment_notice',
  'mail.receipt',
  'mandate.decided',
  'payment_methods.watch',
  'payments.fill-pool',
  'payout_item.decided',
  'payouts.expire-approval',
  'refund.decided',
  'refunds.expire-approval',
  'refunds.expire-claim',
  'sandbox.fund',
  'sandbox.outage-end',
  'stores.delete-old-nonces',
  'subscriptions.mail',
  'subscriptions.renewal_mail',
  'sweep.decided',
  'transfers.rotation',
];

test('of every kind of job it is known whether it waits', () => {
  const kinds = [...jobHandlers(service.app).keys()];
  expect(kinds.toSorted()).toEqual([...WAITING, ...ORDERING, ...FOLLOWING].toSorted());
});
