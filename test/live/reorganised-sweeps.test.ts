import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { treasuryCommands } from '../../packages/server/src/operator/treasury.ts';
import { PAYER } from '../../scripts/local-chain.ts';
import { TANK } from '../chains/evm/key-signer.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { type LiveStore, WITHIN } from './live-store.ts';
import { ReorganisedStore } from './reorganised-store.ts';

const LONG = { timeout: 240_000 };

describe.skipIf(!hasAnvil())('sweeps of a live store under reorganisations deeper than finality', () => {
  let chain: ReorganisedStore;
  let store: LiveStore;
  beforeAll(async () => {
    chain = await ReorganisedStore.start();
    store = chain.store;
  }, 180_000);
  afterEach(async () => {
    store.node.behave();
    await store.expectSettled();
  }, 90_000);
  afterAll(() => store?.stop());

  /** What is swept of each deposit to an address, and whether it is lost. */
  const sweptOf = async (address: string) =>
    (
      await asOwner<{ swept: string }>(
        store.service,
        `select (swept_amount / 1000000)::text || '/' || (amount / 1000000)::text
           || case when lost_at is null then '' else ' lost' end as swept
         from payment_transaction where merchant_id = $1 and address = $2 order by amount`,
        [store.merchant.merchantId, address],
      )
    ).map(({ swept }) => swept);

  /** A payer's 30 tokens, credited; `payAgain` sends the same transaction once more. */
  async function depositOfPayer() {
    const { world } = store;
    const session = await store.open(30);
    await world.mint('USDT', PAYER.address, session.due);
    const takeAway = await chain.remember();
    const nonce = await world.client.getTransactionCount({ address: PAYER.address });
    await world.transfer('USDT', PAYER, session.address, session.due);
    const { transactions } = await world.client.getBlock({ includeTransactions: true });
    const sent = transactions.find((one) => one.nonce === nonce && one.to === lower(world.tokens.USDT));
    const raw = await world.node.call('eth_getRawTransactionByHash', [sent?.hash]);
    await store.until(() => store.payment(session.paymentId), { status: 'completed' });
    await store.world.mine(store.world.finalBlocks + 1);
    const payAgain = async () => {
      await world.node.call('eth_sendRawTransaction', [raw]);
      await world.mine(1);
    };
    return { ...session, takeAway, payAgain };
  }

  /** Ordered until nothing is left: what is credited after an order waits until it is worth its fee. */
  async function swept(address: Hex): Promise<void> {
    const order = () => treasuryCommands(store.service.app).sweep(store.id, 'erc20');
    const left = async () => {
      await order();
      return { left: await store.world.balance('USDT', address) };
    };
    await store.until(left, { left: 0n });
    await store.expectSettled();
  }

  test(
    'fault 49: a swept deposit goes: its sweep takes another deposit’s coins, and is booked so; it comes again',
    LONG,
    async () => {
      const { world } = store;
      const own = await depositOfPayer();
      await swept(own.address);
      expect(await sweptOf(own.address)).toEqual(['30/30']);
      const held = await world.balance('USDT', store.hot);
      await chain.silenced(async () => {
        await own.takeAway();
        await world.mint('USDT', own.address, 50_000_000n);
      });
      await chain.auditAndResume();
      await swept(own.address);
      expect(await sweptOf(own.address)).toEqual(['0/30 lost', '50/50']);
      expect(await world.balance('USDT', store.hot)).toBe(held + 20_000_000n);
      await own.payAgain();
      await expect
        .poll(async () => {
          await world.mine(1);
          await chain.audit();
          return await sweptOf(own.address);
        }, WITHIN)
        .not.toContain('0/30 lost');
      await swept(own.address);
      expect(await sweptOf(own.address)).toEqual(['30/30', '50/50']);
      expect(await world.balance('USDT', store.hot)).toBe(held + 50_000_000n);
      expect(await chain.operators()).toEqual({});
    },
  );

  test(
    'fault 49: a sweep is gone for good, and its deposit stays: another sweep takes it',
    LONG,
    async () => {
      const { world } = store;
      const own = await store.paid(30);
      const takeAway = await chain.remember();
      await swept(own.address);
      const gone = await chain.newest('tank');
      const held = await world.balance('USDT', store.hot);
      await chain.silenced(async () => {
        await takeAway();
        expect(await world.balance('USDT', own.address)).toBe(30_000_000n);
        await chain.takeSequence(gone, TANK);
      });
      await chain.auditAndResume();
      await swept(own.address);
      expect(await sweptOf(own.address)).toEqual(['30/30']);
      expect(await world.balance('USDT', store.hot)).toBe(held);
      expect((await chain.newest('tank')).tx_id).not.toBe(gone.tx_id);
    },
  );

  test(
    'fault 49: after a swept deposit has gone, nothing is sent that was not sent before, until people let it go on',
    LONG,
    async () => {
      const { world } = store;
      const own = await depositOfPayer();
      await swept(own.address);
      const before = (await chain.attempts()).length;
      await own.takeAway();
      const to = chain.recipient();
      const id = await store.submitted([{ address: to, amount: '4.00' }]);
      await store.until(async () => ({ stops: await chain.stops() }), {
        stops: expect.arrayContaining(['stopped']),
      });
      for (let i = 0; i < 5; i++)
        await store.until(() => store.batch(id), { status: expect.stringMatching(/pending|processing/) });
      expect(await chain.attempts()).toHaveLength(before);
      await own.payAgain();
      await chain.auditAndResume();
      await store.until(() => store.batch(id), { status: 'completed' });
      expect(await world.balance('USDT', to)).toBe(4_000_000n);
      expect(await store.payment(own.paymentId)).toMatchObject({ status: 'completed' });
    },
  );
});

const lower = (address: Hex): Hex => `0x${address.slice(2).toLowerCase()}`;
