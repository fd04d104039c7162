import { type Hex, parseGwei, parseTransaction } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TestUSDC } from '../../contracts/artifacts/index.ts';
import { payoutCommands } from '../../packages/server/src/operator/payouts.ts';
import { refundCommands } from '../../packages/server/src/operator/refunds.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { by, OWNER } from '../../scripts/local-chain.ts';
import { hotWallet } from '../chains/evm/key-signer.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { twoApprovers } from '../custody/lost.ts';
import { caller } from '../payouts/requests.ts';
import { refunds } from '../refunds/requests.ts';
import { ACCOUNT, type LiveStore, WITHIN } from './live-store.ts';
import { type Attempt, ReorganisedStore } from './reorganised-store.ts';

const LONG = { timeout: 240_000 };
/** Of an item. */
const FEE = 1_010_000;
const TIPS_LAST_BLOCKS = 21;
const VERBS = ['repay', 'giveBack'] as const;

describe.skipIf(!hasAnvil())('a live store under reorganisations deeper than finality', () => {
  let chain: ReorganisedStore;
  let store: LiveStore;
  let people: Awaited<ReturnType<typeof twoApprovers>>;
  beforeAll(async () => {
    chain = await ReorganisedStore.start();
    store = chain.store;
    await settingCommands(store.service.app).set('refunds.delay_seconds', '0');
    people = await twoApprovers(store.service, store.merchant);
  }, 180_000);
  afterEach(async () => {
    store.node.behave();
    await store.expectSettled();
  }, 90_000);
  afterAll(() => store?.stop());

  const itemsOf = (id: string) => caller(store.service, store.merchant).items(id);

  async function mineAt(baseFeePerGas: bigint): Promise<void> {
    await store.world.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
    await store.world.mine(1);
  }

  /** A payment that its recipient's listing, first in the same block, makes fail for good. */
  async function failedPayout(baseFeePerGas = parseGwei('1')): Promise<{ to: Hex; failed: Attempt }> {
    const { world } = store;
    // What earlier transactions offered no longer counts.
    await world.mine(TIPS_LAST_BLOCKS);
    await mineAt(baseFeePerGas);
    const before = (await chain.attempts()).length;
    const to = chain.recipient();
    const id = await store.submitted([{ address: to, amount: '5.00' }], 'USDC');
    await expect.poll(async () => (await chain.attempts()).length, WITHIN).toBe(before + 1);
    await expect.poll(() => chain.newest(), WITHIN).toMatchObject({ status: 'sent' });
    await world.client.writeContract({
      ...by(OWNER, 300_000n),
      address: world.tokens.USDC,
      abi: TestUSDC.abi,
      functionName: 'blacklist',
      args: [to],
      maxFeePerGas: parseGwei('500'),
      maxPriorityFeePerGas: parseGwei('400'),
    });
    await world.mine(1);
    await mineAt(parseGwei('1'));
    await store.until(() => store.batch(id), { status: 'failed' });
    const failed = await chain.newest();
    expect(failed).toMatchObject({ status: 'failed' });
    return { to, failed };
  }

  test.each(['lie in no mempool', 'wait in a mempool'] as const)(
    'fault 49: a failed payout loses its block, and its bytes %s: it never pays, and later payouts go on',
    LONG,
    async (where) => {
      const { world } = store;
      const takeAway = await chain.remember();
      const { to, failed } = await failedPayout();
      const later = chain.recipient();
      const second = await store.submitted([{ address: later, amount: '2.00' }], 'USDC');
      await store.until(() => store.batch(second), { status: 'completed' });
      await store.expectSettled();
      await takeAway();
      // Without the listing they would pay.
      if (where === 'wait in a mempool') await world.node.call('eth_sendRawTransaction', [failed.raw]);
      await chain.auditAndResume();
      const last = chain.recipient();
      const third = await store.submitted([{ address: last, amount: '3.00' }], 'USDC');
      await store.until(() => store.batch(third), { status: 'completed' });
      const paid = await Promise.all([to, later, last].map((one) => world.balance('USDC', one)));
      expect(paid).toEqual([0n, 2_000_000n, 3_000_000n]);
      expect(await store.batch(second)).toMatchObject({ status: 'completed' });
      await expect(world.node.call('eth_sendRawTransaction', [failed.raw])).rejects.toThrow(/nonce too low/);
      await chain.audit();
      expect(await chain.stops()).not.toContain('stopped');
      expect(await chain.operators()).toEqual({});
    },
  );

  test(
    'fault 49: bytes that offer the most there is are outbid; while gas costs more than the ceiling the gap waits',
    LONG,
    async () => {
      const { world } = store;
      const { maxFeePerGas: ceiling } = world.network().feeCeilings;
      const takeAway = await chain.remember();
      const { to, failed } = await failedPayout((ceiling * 8n) / 9n - parseGwei('1'));
      expect(parseTransaction(failed.raw).maxFeePerGas).toBe((ceiling * 8n) / 9n);
      const later = chain.recipient();
      const second = await store.submitted([{ address: later, amount: '2.00' }], 'USDC');
      await store.until(() => store.batch(second), { status: 'completed' });
      await store.expectSettled();
      await takeAway();
      await mineAt(2n * ceiling);
      await chain.audit();
      expect((await chain.attempts()).slice(-2).map(({ is_gone: isGone }) => isGone)).toEqual([true, true]);
      expect(await chain.stops()).toContain('stopped');
      await mineAt(parseGwei('1'));
      await chain.auditAndResume();
      const paid = await Promise.all([to, later].map((one) => world.balance('USDC', one)));
      expect(paid).toEqual([0n, 2_000_000n]);
      await expect(world.node.call('eth_sendRawTransaction', [failed.raw])).rejects.toThrow(/nonce too low/);
    },
  );

  test(
    'fault 50: a transaction of two items is gone for good: one is paid anew, the other given back, a later payout stays',
    LONG,
    async () => {
      const { world, service, merchant } = store;
      const takeAway = await chain.remember();
      const [anew, back, later] = [chain.recipient(), chain.recipient(), chain.recipient()] as const;
      const id = await store.submitted([
        { address: anew, amount: '6.00' },
        { address: back, amount: '7.00' },
      ]);
      await store.until(() => store.batch(id), { status: 'completed' });
      const gone = await chain.newest();
      const second = await store.submitted([{ address: later, amount: '2.00' }]);
      await store.until(() => store.batch(second), { status: 'completed' });
      await store.expectSettled();
      const before = await chain.usdt();

      await chain.silenced(async () => {
        await takeAway();
        await chain.takeSequence(gone, hotWallet(ACCOUNT));
      });
      await chain.auditAndResume();
      const lost = { status: 'succeeded', lost_at: expect.any(Number), tx_id: gone.tx_id };
      await expect.poll(() => itemsOf(id), WITHIN).toEqual([0, 1].map(() => expect.objectContaining(lost)));
      expect(await world.balance('USDT', later)).toBe(2_000_000n);
      expect(await itemsOf(second)).toEqual([expect.objectContaining({ lost_at: null })]);
      // Nothing was booked by the loss itself.
      expect(await chain.usdt()).toEqual(before);
      await store.expectBooksAgree();

      const items = await itemsOf(id);
      const [first, other] = [anew, back].map((to) => items.find(({ address }) => address === to));
      const itemId = first?.item_id ?? '';
      const { data: events } = await merchant.sdk.events
        .list({ type: 'payout_item.updated', resource: itemId })
        .page();
      expect(events[0]?.data.previous_attributes).toEqual({ lost_at: null });
      const commands = payoutCommands(service.app);
      for (const [i, who] of people.entries()) {
        expect(await commands.repay({ item: itemId, ...who })).toMatchObject({ done: i === 1 });
        expect(await commands.giveBack({ item: other?.item_id ?? '', ...who })).toMatchObject({
          done: i === 1,
        });
      }
      await store.until(async () => (await itemsOf(id)).find(({ address }) => address === anew) ?? {}, {
        status: 'succeeded',
        lost_at: null,
        tx_id: expect.not.stringMatching(gone.tx_id),
      });
      expect((await itemsOf(id)).find(({ address }) => address === back)).toMatchObject({
        status: 'failed',
        failure_code: 'transfer_failed',
      });
      expect(await world.balance('USDT', anew)).toBe(6_000_000n);
      expect(await world.balance('USDT', back)).toBe(0n);
      const after = await chain.usdt();
      expect((after?.available ?? 0) - (before?.available ?? 0)).toBe(7_000_000 + FEE);
      expect(await store.batch(id)).toMatchObject({
        status: 'completed',
        success_count: 1,
        failed_count: 1,
      });
    },
  );

  test.each(VERBS)('fault 50: a refund that is gone for good: %s', LONG, async (verb) => {
    const { world, service, merchant } = store;
    const calls = refunds(service, merchant);
    const session = await store.paid(20);
    const whole = await chain.usdt();
    const takeAway = await chain.remember();
    const to = chain.recipient();
    const { refund_id: id } = await calls.refund({
      payment_id: session.paymentId,
      refund_id: `lost-${verb}`,
      amount: 20_000_000,
      currency: 'USDT',
      address: to,
    });
    await store.until(() => calls.read(id), { status: 'succeeded' });
    const gone = await chain.newest();
    await store.expectSettled();

    await chain.silenced(async () => {
      await takeAway();
      await chain.takeSequence(gone, hotWallet(ACCOUNT));
    });
    await chain.auditAndResume();
    await expect
      .poll(() => calls.read(id), WITHIN)
      .toMatchObject({ status: 'succeeded', lost_at: expect.any(Number), tx_id: gone.tx_id });
    const commands = refundCommands(service.app);
    for (const [i, who] of people.entries())
      expect(await commands[verb]({ refund: id, merchant: store.id, ...who })).toMatchObject({
        done: i === 1,
      });
    if (verb === 'repay') {
      await store.until(() => calls.read(id), { status: 'succeeded', lost_at: null });
      expect((await calls.read(id)).tx_id).not.toBe(gone.tx_id);
      expect(await world.balance('USDT', to)).toBe(20_000_000n);
      return;
    }
    expect(await calls.read(id)).toMatchObject({ status: 'failed', failure_reason: 'transfer_failed' });
    expect(await world.balance('USDT', to)).toBe(0n);
    expect((await chain.usdt())?.available).toBe(whole?.available);
    expect(await store.payment(session.paymentId)).toMatchObject({ amount_refunded: 0 });
  });
});
