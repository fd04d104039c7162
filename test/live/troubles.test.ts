import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { PAYER } from '../../scripts/local-chain.ts';
import type { World } from '../chains/evm/world.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { auditOnce, operatorsOf } from '../custody/audits.ts';
import { asOwner } from '../ledger.ts';
import { caller } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { LiveStore, WITHIN } from './live-store.ts';

const LONG = { timeout: 120_000 };
/** Longer than a transaction may be in no block before it is replaced. */
const STUCK_SECONDS = 200;
/** More than a node that lags may be behind what was final. */
const BEYOND_A_LAG = 80;
/** Of an item; the one that failed pays none. */
const FEE = 1_010_000;

describe.skipIf(!hasAnvil())('a live store, and what goes wrong around it', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start();
  }, 120_000);
  afterAll(() => store?.stop());

  const attempts = () =>
    asOwner<{ status: string; versions: number; pays: boolean }>(
      store.service,
      `select status, versions, movement is null and key_ref = 'hot' as pays from transfer_attempt where merchant_id = $1 order by attempt_id desc`,
      [store.merchant.merchantId],
    );

  test(
    'fault 55: while the token is paused payouts wait without a transaction, and nothing fails',
    LONG,
    async () => {
      const { world } = store;
      await store.paid(40);
      await world.pause('USDT');
      const before = await attempts();
      const id = await store.submitted([{ address: freshAddress(800), amount: '5.00' }]);
      for (let i = 0; i < 8; i++)
        await store.until(() => store.batch(id), { status: expect.stringMatching(/pending|processing/) });
      expect(await attempts()).toEqual(before);
      await world.own('USDT', 'unpause', []);
      await store.until(() => store.batch(id), { status: 'completed' });
      expect(await world.balance('USDT', freshAddress(800))).toBe(5_000_000n);
      await store.expectSettled();
    },
  );

  test(
    'fault 55: whom USDC has blocked fails alone, with its money back, before anything is signed',
    LONG,
    async () => {
      const { world } = store;
      await store.paid(30, 'USDC');
      await world.list('USDC', freshAddress(811));
      const items = [0, 1, 2].map((i) => ({ address: freshAddress(810 + i), amount: `${5 + i}.00` }));
      const id = await store.submitted(items, 'USDC');
      await store.until(() => store.batch(id), { status: 'partially_completed' });
      const decided = await caller(store.service, store.merchant).items(id);
      expect(decided.find((item) => item.address === freshAddress(811))).toMatchObject({ status: 'failed' });
      const paid = [0, 1, 2].map((i) => world.balance('USDC', freshAddress(810 + i)));
      expect(await Promise.all(paid)).toEqual([5_000_000n, 0n, 7_000_000n]);
      const { data: balances } = await store.merchant.sdk.balances.retrieve();
      expect(balances.find((row) => row.currency === 'USDC')).toMatchObject({
        available: 30_000_000 - 12_000_000 - 2 * FEE,
        held: 0,
      });
      await store.expectSettled();
    },
  );

  test(
    'a contract as recipient is refused before the batch is taken, and after that fails alone',
    LONG,
    async () => {
      const { world, service, merchant } = store;
      await store.paid(30);
      const [payout, token] = [world.network().batchPayout ?? '', world.tokens.USDT];
      for (const address of [payout, token.toLowerCase()]) {
        const refused = await store.drafted([
          { address: freshAddress(815), amount: '5.00' },
          { address, amount: '6.00' },
        ]);
        expect(await caller(service, merchant).read(refused)).toMatchObject({
          can_submit: false,
          validation_errors: [{ field: 'items[1].address', code: 'address_invalid' }],
        });
      }
      await world.pause('USDT');
      const id = await store.submitted([
        { address: freshAddress(815), amount: '5.00' },
        { address: freshAddress(816), amount: '6.00' },
      ]);
      const sql = 'select status from transfer where address = $1';
      await store.until(() => asOwner(service, sql, [freshAddress(816)]), [{ status: 'queued' }]);
      // As it is where the contract was deployed after the batch was taken.
      for (const table of ['payout_item', 'transfer'])
        await asOwner(service, `update ${table} set address = $1 where address = $2`, [
          payout,
          freshAddress(816),
        ]);
      await world.own('USDT', 'unpause', []);
      await store.until(() => store.batch(id), { status: 'partially_completed' });
      expect(await world.balance('USDT', freshAddress(815))).toBe(5_000_000n);
      expect(await world.balance('USDT', `0x${payout.slice(2)}`)).toBe(0n);
      await store.expectSettled();
    },
  );

  test(
    'a payment that USDT took a fee from is underpaid by it, topped up, and refunded on the chain',
    LONG,
    async () => {
      const { world, service, merchant } = store;
      await world.own('USDT', 'setParams', [10n, 49n]);
      const session = await store.open(50);
      await world.mint('USDT', PAYER.address, 1_000_000_000n);
      await world.transfer('USDT', PAYER, session.address, session.due);
      await store.until(() => store.payment(session.paymentId), { amount_received: 49_950_000 });
      await world.own('USDT', 'setParams', [0n, 0n]);
      await world.mint('USDT', session.address, 50_000n);
      await store.until(() => store.payment(session.paymentId), { status: 'completed' });

      await settingCommands(service.app).set('refunds.delay_seconds', '0');
      const calls = refunds(service, merchant);
      const { refund_id: id } = await calls.refund({
        payment_id: session.paymentId,
        amount: 20_000_000,
        currency: 'USDT',
        address: freshAddress(820),
      });
      await store.until(() => calls.read(id), { status: 'succeeded' });
      expect(await world.balance('USDT', freshAddress(820))).toBe(20_000_000n);
      await store.expectSettled();
    },
  );

  test('J4: a payout whose fee has become too low is replaced, and pays once', LONG, async () => {
    const { world, service } = store;
    await world.client.setBalance({ address: store.hot, value: 2n * 10n ** 17n });
    await store.paid(20);
    const id = await store.submitted([{ address: freshAddress(830), amount: '4.00' }]);
    const sent = async () => (await attempts()).find(({ pays }) => pays);
    await expect.poll(sent, WITHIN).toMatchObject({ status: 'sent', versions: 1 });
    const { maxFeePerGas = 0n } = await pendingOf(world);
    // Above what the transaction offers for each gas, and below what its whole gas limit could cost.
    await world.client.setNextBlockBaseFeePerGas({ baseFeePerGas: (maxFeePerGas * 3n) / 2n });
    await world.mine(1);
    await asOwner(
      service,
      `update transfer_attempt set sent_at = sent_at - ${STUCK_SECONDS} where status = 'sent'`,
    );
    await expect.poll(sent, WITHIN).toMatchObject({ status: 'sent', versions: 2 });
    await store.until(() => store.batch(id), { status: 'completed' });
    expect(await world.balance('USDT', freshAddress(830))).toBe(4_000_000n);
    await store.expectSettled();
  });

  test(
    'fault 49, 50: a reorganisation deeper than finality stops the network; the payout is sent again and paid once',
    LONG,
    async () => {
      const { world, service, merchant } = store;
      await store.paid(20);
      await store.expectSettled();
      const before = await world.client.getBlockNumber();
      const id = await store.submitted([{ address: freshAddress(840), amount: '6.00' }]);
      await store.until(() => store.batch(id), { status: 'completed' });
      await world.reorganise(Number((await world.client.getBlockNumber()) - before));
      expect(await world.balance('USDT', freshAddress(840))).toBe(0n);
      await auditOnce(service, merchant.merchantId, 'erc20');
      const networks = networkCommands(service.app);
      expect(await networks.list()).toContainEqual(
        expect.objectContaining({ network: 'erc20', status: 'stopped' }),
      );
      await world.mine(world.finalBlocks + 2);
      await auditOnce(service, merchant.merchantId, 'erc20');
      expect(await world.balance('USDT', freshAddress(840))).toBe(6_000_000n);
      await expect(networks.resume('erc20')).rejects.toMatchObject({ code: 'forbidden' });
      await store.resume();
      expect(await operatorsOf(service, merchant.merchantId)).toEqual({});
      expect(await store.batch(id)).toMatchObject({ status: 'completed' });
      await store.expectSettled();
    },
  );
});

describe.skipIf(!hasAnvil())('a live store whose chain is cut off', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start();
  }, 120_000);
  afterAll(() => store?.stop());

  const finalBlocks = async () =>
    (
      await asOwner<{ height: string }>(
        store.service,
        'select height::text from final_block where merchant_id = $1',
        [store.merchant.merchantId],
      )
    ).map(({ height }) => BigInt(height));

  test(
    'fault 48: a chain that ends long before what was final stops the network, until people let it go on',
    LONG,
    async () => {
      const { world, service, merchant } = store;
      await store.paid(20);
      await store.expectSettled();
      const networks = networkCommands(service.app);
      const audit = () => auditOnce(service, merchant.merchantId, 'erc20');
      const stopped = { network: 'erc20', status: 'stopped' };
      await world.mine(BEYOND_A_LAG);
      const newest = await world.client.getBlockNumber({ cacheTime: 0 });
      await expect
        .poll(async () => {
          await audit();
          return await finalBlocks();
        }, WITHIN)
        .toContain(newest - BigInt(world.finalBlocks));
      expect(await networks.list()).not.toContainEqual(expect.objectContaining(stopped));
      await world.cutOff(BEYOND_A_LAG);
      await expect
        .poll(async () => {
          await audit();
          return await networks.list();
        }, WITHIN)
        .toContainEqual(expect.objectContaining(stopped));
      await world.mine(BEYOND_A_LAG + 1);
      await audit();
      expect(await networks.list()).toContainEqual(expect.objectContaining(stopped));
      await store.resume();
      const id = await store.submitted([{ address: freshAddress(850), amount: '6.00' }]);
      await store.until(() => store.batch(id), { status: 'completed' });
      expect(await world.balance('USDT', freshAddress(850))).toBe(6_000_000n);
      await store.expectSettled();
    },
  );
});

/** The only transaction that waits for a block. */
async function pendingOf({ client }: World) {
  const { transactions } = await client.getBlock({ blockTag: 'pending', includeTransactions: true });
  const [only, ...others] = transactions;
  if (only === undefined || others.length > 0) throw new Error(`${transactions.length} transactions wait`);
  return only;
}
