import { readFileSync } from 'node:fs';
import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readHotWallets } from '../../packages/server/src/monitoring/treasury.ts';
import { treasuryCommands } from '../../packages/server/src/operator/treasury.ts';
import { newId } from '../../packages/server/src/platform/db/ids/index.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { enqueue } from '../../packages/server/src/platform/jobs/index.ts';
import { getMerchant } from '../../packages/server/src/stores/index.ts';
import { reserveMovement } from '../../packages/server/src/transfers/attempts/movements.ts';
import { signReserved } from '../../packages/server/src/transfers/attempts/sign-reserved.ts';
import { SEND_JOB } from '../../packages/server/src/transfers/request-transfers.ts';
import { closeWallet } from '../../packages/server/src/transfers/rotation/index.ts';
import type { SendContext } from '../../packages/server/src/transfers/send-context.ts';
import { WalletRotated } from '../../packages/server/src/transfers/wallets/present-wallet.ts';
import { readWallet, readWalletAt } from '../../packages/server/src/transfers/wallets/wallet-queries.ts';
import { hotWallet } from '../chains/evm/key-signer.ts';
import { TOKEN } from '../checkout/requests.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { advanceLive } from '../journeys/subscription-worlds.ts';
import { asOwner } from '../ledger.ts';
import { billing, DAY, item } from '../subscriptions/billing.ts';
import { ACCOUNT, LiveStore, WITHIN } from './live-store.ts';
import { PayerWallet } from './payer-wallet.ts';
import { endRotation, hotOf, lookAtRotation, rotate, rotationOf } from './rotating.ts';

const LONG = { timeout: 400_000 };
const DAILY_LOOKS = new URL('../../packages/server/migrations/0058_daily_looks.sql', import.meta.url);
const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);
/** What such transactions may use at most. */
const PLAIN_GAS = 30_000n;
const MOVE_GAS = 150_000n;
const APPROVE_GAS = 100_000n;

// The command is a process of its own, so the service of this one is always the process that has not noticed.
describe.skipIf(!hasAnvil())('a live merchant gets a new hot wallet and keeps every mandate', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true });
  }, 120_000);
  afterAll(() => store?.stop());

  const calls = () => billing(store.service, store.merchant);
  let customers = 0;
  async function subscribed(): Promise<{ id: string; payer: PayerWallet }> {
    customers += 1;
    const items = [item(PRICE, 'month', 'USDT')];
    const ordered = await calls().make({ customer: `customer-${customers}`, currency: 'USDT', items });
    const payer = await PayerWallet.start(store, FUNDS);
    await payer.subscribe(ordered);
    return { id: ordered.id, payer };
  }
  const active = async ({ id }: { id: string }) => {
    await store.until(() => calls().read(id), { status: 'active' });
  };
  const units = (epoch: number) => store.world.balance('USDT', hotOf(epoch));
  const failedTransfers = () =>
    asOwner(store.service, "select transfer_id from transfer where merchant_id = $1 and status = 'failed'", [
      store.merchant.merchantId,
    ]);
  const senders = async () => {
    const rows = await asOwner<{ sender: string; kinds: string[] }>(
      store.service,
      `select sender, array_agg(distinct coalesce(movement ->> 'kind', 'payment')) as kinds from transfer_attempt
       where merchant_id = $1 and key_ref like 'hot%' and status = 'succeeded' group by 1`,
      [store.merchant.merchantId],
    );
    return new Map(rows.map(({ sender, kinds }) => [sender, kinds.toSorted()]));
  };
  let recipients = 0;
  const pay = async (amount: string) => {
    recipients += 1;
    const address = freshAddress(800 + recipients);
    return { address, id: await store.submitted([{ address, amount }]) };
  };
  const paidOut = async ({ id, address }: { id: string; address: `0x${string}` }, amount: bigint) => {
    await store.until(() => store.batch(id), { status: 'completed' });
    expect(await store.world.balance('USDT', address)).toBe(amount);
  };

  const viewOf = async () => {
    const { app } = store.service;
    const merchant = await getMerchant(app.db, store.merchant.merchantId);
    return { merchant, chain: app.chains.of(merchant, 'erc20') };
  };

  /** As of before the rotation. */
  let stale: Awaited<ReturnType<typeof viewOf>>['chain'];
  let first: { id: string; payer: PayerWallet };
  test('before: deposits, payouts and charges go through the first wallet', LONG, async () => {
    await store.paid(100);
    await paidOut(await pay('10.00'), 10_000_000n);
    first = await subscribed();
    await active(first);
    await store.expectSettled();
    expect(await units(0)).toBeGreaterThan(0n);
    stale = (await viewOf()).chain;
  });

  test(
    'fault 91: during: what is on its way ends, the rest waits and is paid by the new wallet',
    LONG,
    async () => {
      const early = await pay('5.00');
      const late: Awaited<ReturnType<typeof pay>>[] = [];
      let second: { id: string; payer: PayerWallet } | undefined;
      const report = await rotate(store, async () => {
        // No block comes before all of this is there.
        await expect.poll(() => rotationOf(store), WITHIN).toMatchObject({ status: 'closing' });
        late.push(await pay('7.00'));
        second = await subscribed();
        late.push(await pay('8.00'));
        await store.expectBooksAgree();
      });
      expect(report).toMatchObject({
        status: 'moving',
        epoch: 1,
        from: hotOf(0),
        to: hotOf(1),
        // The second subscription may have been charged meanwhile, which still goes to the old wallet.
        left_USDT: expect.stringMatching(/^(?:0|20)\.00$/),
        home_moves_at: expect.any(String),
      });
      await paidOut(early, 5_000_000n);
      await paidOut(late[0] ?? early, 7_000_000n);
      await paidOut(late[1] ?? early, 8_000_000n);
      if (second !== undefined) await active(second);
      await store.expectSettled();
      expect(await failedTransfers()).toEqual([]);
      const sent = await senders();
      expect(sent.get(hotOf(0))).toContain('move');
      expect(sent.get(hotOf(1))).toContain('payment');
    },
  );

  test(
    'fault 91: who has not noticed signs nothing that another has reserved for the new wallet',
    LONG,
    async () => {
      const { app } = store.service;
      const { merchantId } = store.merchant;
      const { merchant, chain } = await viewOf();
      const groupId = newId();
      const nowSeconds = app.clock.nowSeconds();
      const tank = await readWallet(chain, 'tank');
      const movement = { kind: 'gas', amount: 10n ** 12n } as const;
      const order = {
        merchantId,
        groupId,
        currency: 'USDT',
        keyRef: 'tank',
        wallet: tank,
        movement,
      } as const;
      await transact(app.db, (tx) => reserveMovement(tx, order, nowSeconds));
      const run = {
        step: (change) => transact(app.db, change),
        signal: new AbortController().signal,
      } satisfies SendContext['run'];
      const context = { deps: app, run, merchant, groupIds: [groupId], isCharge: false, nowSeconds };
      await expect(signReserved({ ...context, chain: stale, history: {} })).rejects.toBeInstanceOf(
        WalletRotated,
      );
      expect(await signReserved({ ...context, chain, history: {} })).toMatchObject({ blocked: undefined });
      const job = {
        merchantId,
        kind: SEND_JOB,
        uniqueKey: groupId,
        dueAtMs: app.clock.nowMs(),
        payload: { groupId },
      };
      await transact(app.db, (tx) => enqueue(tx, [job]));
      const sent = () =>
        asOwner(store.service, 'select status from transfer_attempt where group_id = $1', [groupId]);
      await store.until(sent, [{ status: 'succeeded' }]);
    },
  );

  test(
    'fault 91: whoever has the old key uses its sequences up, and the old wallet still hands coins over',
    LONG,
    async () => {
      const { client } = store.world;
      await client.setBalance({ address: hotOf(0), value: parseEther('0.05') });
      const next = Number(await store.world.sequenceOf(hotOf(0)));
      for (const sequence of [next, next + 1]) await store.takeSequence(sequence, hotWallet(ACCOUNT));
      await store.world.mine(1);
      expect(Number(await store.world.sequenceOf(hotOf(0)))).toBe(next + 2);
      const robbed = await subscribed();
      await active(robbed);
      expect(await rotate(store)).toMatchObject({ status: 'moving', left_USDT: '0.00' });
      await store.expectSettled();
      expect(await units(0)).toBe(0n);
    },
  );

  test(
    'fault 91: what the issuer has blocked in the old wallet waits there and costs nothing, with an alarm',
    LONG,
    async () => {
      const moves = () =>
        asOwner(
          store.service,
          "select attempt_id from transfer_attempt where movement ->> 'kind' = 'move' order by 1",
          [],
        );
      const before = await moves();
      await store.world.list('USDT', hotOf(0));
      await store.world.mint('USDT', hotOf(0), BigInt(PRICE));
      // It is still where charges go: they wait, as they would be frozen there.
      const waiting = await subscribed();
      const open = "select 1 as open from mandate_activation where status = 'open'";
      await store.until(async () => await asOwner(store.service, open, []), [{ open: 1 }]);
      await store.world.mine(3);
      expect(await waiting.payer.balance()).toBe(FUNDS);
      const { lines, waitMs } = await lookAtRotation(store);
      expect(lines).toEqual([expect.stringContaining('does not leave a rotated wallet')]);
      expect(waitMs).toBeGreaterThan(0);
      expect(await moves()).toEqual(before);
      expect(await units(0)).toBe(BigInt(PRICE));
      const wallets = await treasuryCommands(store.service.app).status();
      const ofStore = wallets.filter(({ merchant_id }) => merchant_id === store.id);
      expect(ofStore).toMatchObject([
        { wallet: 'rotated', address: hotOf(0), USDT: '20.00', fees_30_days: null },
        { wallet: 'hot', address: hotOf(1) },
      ]);
      const page = { network: 'erc20' as const, limit: 20, after: undefined };
      const shown = (await readHotWallets(store.service.app, page)).wallets;
      expect(shown.find(({ held }) => held?.address === hotOf(1))?.rotated).toMatchObject([
        { address: hotOf(0), tokens: { USDT: BigInt(PRICE) } },
      ]);
      await store.world.own('USDT', 'removeBlackList', [hotOf(0)]);
      await active(waiting);
      expect(await rotate(store)).toMatchObject({ status: 'moving', left_USDT: '0.00' });
      await store.expectSettled();
      expect(await failedTransfers()).toEqual([]);
    },
  );

  test(
    'fault 91: after: deposits reach the new wallet, charges the old one until home moves, payouts leave from the new one',
    LONG,
    async () => {
      await store.paid(60);
      const third = await subscribed();
      await active(third);
      expect(await third.payer.balance()).toBe(FUNDS - BigInt(PRICE));
      await store.expectBooksAgree();
      expect(await units(0)).toBe(BigInt(PRICE));
      // Rotating once more waits for that, and brings the coins along.
      const again = await rotate(store);
      expect(again).toMatchObject({ status: 'moving', epoch: 1, left_USDT: '0.00' });
      await paidOut(await pay('90.00'), 90_000_000n);
      await store.expectSettled();
      expect(await units(0)).toBe(0n);
    },
  );

  test(
    'fault 91: what either wallet signed at a price that rose a hundredfold since it was decided is paid all the same',
    LONG,
    async () => {
      const { app } = store.service;
      const { client } = store.world;
      const { merchantId } = store.merchant;
      const { chain } = await viewOf();
      const [rotation] = await asOwner<{ rotation_id: string }>(
        store.service,
        "select rotation_id from wallet_rotation where merchant_id = $1 and status = 'moving'",
        [merchantId],
      );
      const groups = { 'hot:0': rotation?.rotation_id ?? '', hot: newId() };
      const open = async () =>
        await asOwner(
          store.service,
          "select movement from transfer_attempt where group_id = any($1) and status in ('reserved', 'signed', 'sent')",
          [Object.values(groups)],
        );
      await store.world.mint('USDT', hotOf(0), 5_000_000n);
      /** Reserves it for a wallet that holds this, at the price of now, and has it signed at a hundredfold. */
      const rise = async (
        keyRef: 'hot' | 'hot:0',
        value: bigint,
        movement: Parameters<typeof reserveMovement>[1]['movement'],
      ) => {
        const sender = hotOf(keyRef === 'hot' ? 1 : 0);
        await client.setBalance({ address: sender, value });
        const wallet = await readWalletAt(chain, sender);
        const groupId = groups[keyRef];
        const order = { merchantId, groupId, currency: 'USDC', keyRef, wallet, movement } as const;
        await transact(app.db, (tx) => reserveMovement(tx, order, app.clock.nowSeconds()));
        await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 100n * (await priceNow()) });
        await store.world.mine(1);
        const dueAtMs = app.clock.nowMs();
        const job = { merchantId, kind: SEND_JOB, uniqueKey: groupId, dueAtMs, payload: { groupId } };
        await transact(app.db, (tx) => enqueue(tx, [job]));
        await store.until(async () => ({ left: await open() }), { left: [] });
        // It falls by an eighth with each empty block.
        await store.world.mine(40);
      };
      const priceNow = async () => ((await chain.readRotation())?.fees.plain ?? 0n) / PLAIN_GAS;
      let price = await priceNow();
      await rise('hot:0', price * MOVE_GAS, { kind: 'move', asset: 'USDT', amount: 5_000_000n });
      price = await priceNow();
      await rise('hot:0', 20n * price * PLAIN_GAS, {
        kind: 'move',
        asset: null,
        amount: 16n * price * PLAIN_GAS,
      });
      price = await priceNow();
      await rise('hot', price * APPROVE_GAS, { kind: 'approve', asset: 'USDC', amount: 0n });
      expect(await units(0)).toBe(0n);
      await store.expectSettled();
    },
  );

  test('a run that was confirmed before another one rotated begins nothing', LONG, async () => {
    const { app } = store.service;
    const of = { merchantId: store.merchant.merchantId, network: 'erc20' } as const;
    const now = { nowSeconds: app.clock.nowSeconds(), nowMs: app.clock.nowMs() };
    const close = (next: number) => transact(app.db, (tx) => closeWallet(tx, of, { next, ...now }));
    // This rotation goes on, and the next one waits for its end.
    await close(1);
    await expect(close(2)).rejects.toMatchObject({ code: 'conflict' });
    await endRotation(store);
    await expect(close(1)).rejects.toMatchObject({ code: 'conflict' });
    expect(await rotationOf(store)).toEqual({ status: 'done', epoch: 1 });
  });

  test('once home has moved the rotation is over, and charges reach the new wallet', LONG, async () => {
    const before = await units(1);
    const fourth = await subscribed();
    await active(fourth);
    expect(await units(1)).toBe(before + BigInt(PRICE));
    expect(await units(0)).toBe(0n);
    await store.expectSettled();
    expect(await failedTransfers()).toEqual([]);
  });

  test(
    'what comes into an old wallet afterwards is brought along by the look of every day',
    LONG,
    async () => {
      await store.world.mint('USDT', hotOf(0), 5_000_000n);
      // As where a rotation ended before there was such a look: the job comes with the release.
      await asOwner(store.service, "delete from job where kind = 'transfers.rotation'", []);
      await asOwner(store.service, readFileSync(DAILY_LOOKS, 'utf8'));
      await store.until(async () => ({ left: await units(0) }), { left: 0n });
      await store.expectSettled();
      const isOver = async () => ({ isOver: (await lookAtRotation(store)).waitMs > 80_000_000 });
      await store.until(isOver, { isOver: true });
      expect(await rotationOf(store)).toEqual({ status: 'done', epoch: 1 });
    },
  );

  test('a mandate of before the rotation is pulled for its next period by the new wallet', LONG, async () => {
    const before = await units(1);
    expect(await first.payer.balance()).toBe(FUNDS - BigInt(PRICE));
    await advanceLive(store, 32 * DAY);
    const paid = async () => ({ left: String(await first.payer.balance()) });
    await store.until(paid, { left: String(FUNDS - 2n * BigInt(PRICE)) });
    expect(await calls().read(first.id)).toMatchObject({ status: 'active' });
    await store.expectSettled();
    expect(await units(1)).toBeGreaterThan(before);
    expect(await units(0)).toBe(0n);
    expect(await failedTransfers()).toEqual([]);
  });
});
