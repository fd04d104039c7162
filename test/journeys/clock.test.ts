import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { clearSetting, writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { TRANSFER_SETTINGS } from '../../packages/server/src/transfers/index.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { caller } from '../payouts/requests.ts';
import { all } from '../refunds/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';

const HOUR = 3_600;
const DAY = 86_400;

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: true });
});
/** No journey ends with money that is nowhere. */
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

async function submit(merchant: TestMerchant, address: string, amount = '1.00'): Promise<string> {
  const items = [{ network: 'erc20' as const, address, amount }];
  const { batch_id } = await merchant.sdk.payouts.create({ currency: 'USDT', items });
  await merchant.sdk.payouts.submit(batch_id);
  return batch_id;
}

test('a payout to the stuck address is over once an hour of the clock has passed', async () => {
  const merchant = await service.createMerchant();
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const stuck = await submit(merchant, erc20.stuck);
  await merchant.sdk.testHelpers.advanceClock(HOUR / 2);
  expect((await merchant.sdk.payouts.retrieve(stuck)).status).toBe('processing');
  await merchant.sdk.testHelpers.advanceClock(HOUR);
  const batch = await merchant.sdk.payouts.retrieve(stuck);
  expect(batch.status).toBe('completed');
  expect((batch.completed_at ?? 0) - (batch.submitted_at ?? 0)).toBeGreaterThanOrEqual(HOUR);
});

test('a payout is final on the chain before an advance over it answers', async () => {
  const merchant = await service.createMerchant();
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const batch = await submit(merchant, erc20.succeed);
  await merchant.sdk.testHelpers.advanceClock(10);
  expect((await merchant.sdk.payouts.retrieve(batch)).status).toBe('completed');
});

test('what a reorganisation took from final blocks is found before the clock leaves them behind', async () => {
  const merchant = await service.createMerchant();
  const { testHelpers, payouts } = merchant.sdk;
  const { erc20 } = await testHelpers.addresses();
  await testHelpers.controlChain('erc20', { mine: 100 });
  const batch = await submit(merchant, erc20.succeed);
  await testHelpers.advanceClock(10);
  expect((await payouts.retrieve(batch)).status).toBe('completed');
  await testHelpers.controlChain('erc20', { reorg: 50 });
  await testHelpers.advanceClock(60 * DAY);
  const stops = await service.app.db
    .selectFrom('network_stop')
    .select('network')
    .where('merchant_id', '=', merchant.merchantId)
    .execute();
  expect(stops).toEqual([{ network: 'erc20' }]);
  // Its bytes were sent again, which pays once.
  const transfers = await all(testHelpers.transfers('erc20', erc20.succeed));
  expect(transfers).toMatchObject([{ amount: 1_000_000, final: true }]);
});

test('a payout that a pause holds back does not hold up the clock, and is paid once after it', async () => {
  const paused = await startService();
  try {
    const merchant = await paused.createMerchant();
    const { merchantId, sdk } = merchant;
    const { erc20 } = await sdk.testHelpers.addresses();
    const batch = await submit(merchant, erc20.succeed);
    await writeSetting(paused.app.db, merchantId, TRANSFER_SETTINGS.paused, ['erc20']);
    await paused.startWorker();
    const { post } = caller(paused, merchant);
    expect((await post('/test_helpers/clock/advance', { seconds: 60 * DAY })).json).toMatchObject({
      done: true,
    });
    expect((await sdk.payouts.retrieve(batch)).status).toBe('processing');
    await clearSetting(paused.app.db, merchantId, TRANSFER_SETTINGS.paused);
    for (let i = 0; i < 2; i += 1) await sdk.testHelpers.advanceClock(120);
    expect((await sdk.payouts.retrieve(batch)).status).toBe('completed');
    const transfers = await all(sdk.testHelpers.transfers('erc20', erc20.succeed));
    expect(transfers).toMatchObject([{ amount: 1_000_000, final: true }]);
    await expectLedgerWhole(paused);
  } finally {
    await paused.stop();
  }
});

test('a payout goes out as an outage of a day ends, not when the clock stops', async () => {
  const merchant = await service.createMerchant();
  const { testHelpers, payouts } = merchant.sdk;
  const { erc20 } = await testHelpers.addresses();
  await testHelpers.controlChain('erc20', { outage_seconds: DAY });
  const batch = await submit(merchant, erc20.succeed);
  await testHelpers.advanceClock(3 * DAY);
  const { status, submitted_at, completed_at } = await payouts.retrieve(batch);
  expect(status).toBe('completed');
  const tookSeconds = (completed_at ?? 0) - (submitted_at ?? 0);
  expect(tookSeconds).toBeGreaterThanOrEqual(DAY - 60);
  expect(tookSeconds).toBeLessThan(DAY + 120);
});

test('a payment whose network is away expires as that is over, and holds up no clock until then', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const { testHelpers, checkout } = merchant.sdk;
  const { id } = await checkout.sessions.create({ amount: 100n, currency: 'USD', expires_in: 300 });
  const option = { currency: 'USDT', network: 'erc20' } as const;
  await testHelpers.checkout.sessions.pay(id, { ...option, amount: '0.50' });
  await testHelpers.controlChain('erc20', { outage_seconds: HOUR });
  const { post } = caller(service, merchant);
  const advance = async (seconds: number) => (await post('/test_helpers/clock/advance', { seconds })).json;
  expect(await advance(HOUR - 120)).toMatchObject({ done: true });
  expect((await checkout.sessions.retrieve(id)).status).toBe('open');
  expect(await advance(10 * DAY)).toMatchObject({ done: true });
  expect((await checkout.sessions.retrieve(id)).status).toBe('expired');
  const [expired] = await all(merchant.sdk.events.list({ type: 'payment.expired' }));
  const made = await checkout.sessions.retrieve(id);
  expect((expired?.created ?? 0) - (made.expires_at ?? 0)).toBeLessThan(HOUR);
});

test('a batch that nobody approves for seven days is rejected, in order with everything else', async () => {
  const merchant = await service.createMerchant();
  const { erc20 } = await merchant.sdk.testHelpers.addresses();
  const waiting = await submit(merchant, erc20.succeed, '10000.01');
  await merchant.sdk.testHelpers.advanceClock(7 * DAY - 60);
  expect((await merchant.sdk.payouts.retrieve(waiting)).status).toBe('pending_approval');
  await merchant.sdk.testHelpers.advanceClock(120);
  const rejected = await merchant.sdk.payouts.retrieve(waiting);
  expect(rejected).toMatchObject({ status: 'rejected', frozen_amount: '0.00' });
  const balances = await merchant.sdk.balances.retrieve();
  expect(balances.data[0]).toMatchObject({ available: 3_000_000_000_000, payout_hold: 0 });
});

test('the clock stays ahead by what it was moved; other merchants’ clocks do not change', async () => {
  const [mover, other] = [await service.createMerchant(), await service.createMerchant({ funds: 0n })];
  const before = await mover.sdk.testHelpers.now();
  await Promise.all([mover.sdk.testHelpers.advanceClock(400 * DAY), mover.sdk.testHelpers.advanceClock(0)]);
  const moved = (await mover.sdk.testHelpers.now()) - before;
  expect(moved).toBeGreaterThanOrEqual(400 * DAY);
  expect(moved).toBeLessThan(400 * DAY + 60);
  expect(Math.abs((await other.sdk.testHelpers.now()) - Date.now() / 1000)).toBeLessThan(60);
});

test('two years are the most that one call takes, and live merchants have no clock to move', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const live = await service.createMerchant({ mode: 'live' });
  await expect(merchant.sdk.testHelpers.advanceClock(63_158_401)).rejects.toMatchObject({ status: 400 });
  await expect(live.sdk.testHelpers.now()).rejects.toMatchObject({ status: 403 });
});
