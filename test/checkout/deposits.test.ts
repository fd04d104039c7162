import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ChainUnavailable } from '../../packages/server/src/chains/port/index.ts';
import { PAYMENT_SETTINGS } from '../../packages/server/src/payments/settings.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { contractCases } from '../own-cases/addresses.ts';
import { scaled } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import { eventTypesOf, TOKEN } from './requests.ts';
import { Shop } from './shop.ts';

const UNIT = BigInt(TOKEN);
const REORGANISATIONS = scaled(1_000, 24);
const DUST = scaled(10_000, 1_000);

let service: TestService;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => expectLedgerWhole(service));
afterAll(() => service.stop());

const NOTHING = { available: 0, held: 0, seized: 0 };

describe('when money counts', () => {
  test('K1: until its block is final a deposit is only shown: no event, credit or completion', async () => {
    shop = await Shop.open(service);
    const due = await shop.due();
    await shop.send(due.address);
    for (const confirmations of [1, 2]) {
      await shop.scan();
      const { status, transactions, amount_received } = await shop.payment(due);
      expect([status, amount_received]).toEqual(['processing', 0]);
      expect(transactions).toMatchObject([{ status: 'seen', confirmations, final_at: null }]);
      expect(await shop.balance()).toEqual(NOTHING);
      expect(await eventTypesOf(shop.merchant, due.paymentId)).toEqual([]);
      shop.wait(1);
    }
    await shop.scan();
    expect(await shop.payment(due)).toMatchObject({ status: 'completed', amount_received: 100 * TOKEN });
    expect(await eventTypesOf(shop.merchant, due.paymentId)).toEqual(['payment.completed']);
  });

  test(`fault 48, K1: ${REORGANISATIONS} reorganisations that reach up to finality: nothing early, nothing twice`, {
    timeout: REORGANISATIONS * 3_000,
  }, async () => {
    shop = await Shop.open(service);
    let final = 0;
    for (let round = 0; round < REORGANISATIONS; round++) {
      const due = await shop.due();
      const [depth, remine, age] = [1 + (round % 2), round % 3 !== 0, Math.floor(round / 2) % 2];
      const txId = await shop.send(due.address);
      shop.wait(age);
      await shop.scan();
      expect(await shop.payment(due)).toMatchObject({ status: 'processing', amount_received: 0 });
      await shop.chain().reorg(depth, { remine });
      await shop.scan();
      // Older than the reorganisation is deep: it has stayed where it was.
      const isThere = remine || age >= depth;
      const after = await shop.payment(due);
      expect([after.status, after.transactions[0]?.status]).toEqual(
        isThere ? ['processing', 'seen'] : ['pending', 'gone'],
      );
      expect(await eventTypesOf(shop.merchant, due.paymentId)).toEqual([]);
      await shop.settle();
      if (isThere) final += 100 * TOKEN;
      const end = await shop.payment(due);
      expect([end.status, end.amount_received]).toEqual(
        isThere ? ['completed', 100 * TOKEN] : ['pending', 0],
      );
      expect(end.transactions.map(({ tx_id }) => tx_id)).toEqual([txId]);
      expect(await shop.balance()).toEqual({ ...NOTHING, available: final });
    }
  });

  test('K2: all blocks read three times over, and by four watchers at once: each transfer is credited once', async () => {
    shop = await Shop.open(service);
    const dues = [];
    for (let i = 0; i < 6; i++) {
      const due = await shop.due();
      dues.push(due);
      await shop.send(due.address, [{ amount: 60n * UNIT }, { amount: 40n * UNIT }]);
      if (i % 2 === 0) shop.wait(1);
    }
    await shop.chain().mine(3);
    await Promise.all(Array.from({ length: 4 }, () => shop.scan()));
    const before = await Promise.all(dues.map((due) => shop.payment(due)));
    expect(before.every(({ status }) => status === 'completed')).toBe(true);
    expect(await shop.balance()).toEqual({ ...NOTHING, available: 600 * TOKEN });
    for (let pass = 0; pass < 3; pass++) {
      await shop.forget();
      await Promise.all([shop.scan(), shop.scan()]);
    }
    expect(await shop.balance()).toEqual({ ...NOTHING, available: 600 * TOKEN });
    expect(await Promise.all(dues.map((due) => shop.payment(due)))).toEqual(before);
    for (const { id } of before) expect(await eventTypesOf(shop.merchant, id)).toEqual(['payment.completed']);
  });
});

describe('what money counts', () => {
  test('K3, fault 64: under, over and split, within and beyond the tolerance', async () => {
    shop = await Shop.open(service);
    const cases = [
      { sent: [99_500_000n], status: 'completed', exceptions: [] },
      { sent: [99_499_999n], status: 'pending', exceptions: ['underpaid'] },
      { sent: [1n], status: 'pending', exceptions: ['underpaid'] },
      { sent: [100_000_001n], status: 'completed', exceptions: ['overpaid'] },
      { sent: [250_000_000n], status: 'completed', exceptions: ['overpaid'] },
      { sent: [30_000_000n, 70_000_000n], status: 'completed', exceptions: [] },
      { sent: [50_000_000n, 49_499_999n], status: 'pending', exceptions: ['underpaid'] },
      { sent: [50_000_000n, 49_499_999n, 1n], status: 'completed', exceptions: [] },
      { sent: [100_000_000n, 100_000_000n], status: 'completed', exceptions: ['overpaid'] },
    ] as const;
    for (const { sent, status, exceptions } of cases) {
      const before = await shop.balance();
      const due = await shop.due();
      for (const amount of sent) {
        await shop.send(due.address, { amount });
        shop.wait(1);
      }
      await shop.settle();
      const total = Number(sent.reduce((sum, amount) => sum + amount, 0n));
      expect(await shop.payment(due)).toMatchObject({ status, exceptions, amount_received: total });
      const place = status === 'completed' ? 'available' : 'held';
      expect(await shop.balance()).toEqual({ ...before, [place]: before[place] + total });
    }
  });

  test('K4, fault 66: transfers of false contracts that call themselves USDT, of coins and of nothing credit nothing', async () => {
    shop = await Shop.open(service);
    const fakes = contractCases().filter(({ genuine }) => !genuine);
    for (const network of ['erc20', 'trc20', 'spl'] as const) {
      const due = await shop.due({}, { currency: 'USDT', network });
      const tokens = fakes.filter((fake) => fake.network === network).map(({ contract }) => contract);
      const sent = [...tokens, 'native coin'].map((token) => ({ asset: null, token }));
      await shop.send(due.address, [...sent, { amount: 0n }], network);
      await shop.settle(network);
      const payment = await shop.payment(due);
      expect(payment).toMatchObject({ status: 'pending', amount_received: 0, exceptions: [] });
      expect(payment.transactions).toHaveLength(sent.length);
      for (const transaction of payment.transactions)
        expect(transaction).toMatchObject({ kind: 'unlisted', currency: null, status: 'final' });
      // They fix nothing either: genuine money still pays, in any option.
      await shop.send(due.address, {}, network);
      await shop.settle(network);
      expect(await shop.payment(due)).toMatchObject({ status: 'completed', amount_received: 100 * TOKEN });
    }
    expect(await shop.balance()).toEqual({ ...NOTHING, available: 300 * TOKEN });
  });

  test('K4, fault 66: money of the other token or on the other chain is held, whichever came first', async () => {
    shop = await Shop.open(service);
    const due = await shop.due();
    const onTron = await shop.choose(due.session.id, { currency: 'USDT', network: 'trc20' });
    await shop.send(due.address, { amount: 100n * UNIT, asset: 'USDC' });
    await shop.settle();
    await shop.send(onTron, {}, 'trc20');
    await shop.settle('trc20');
    const payment = await shop.payment(due);
    expect(payment).toMatchObject({ status: 'pending', amount_received: 0, exceptions: ['wrong_token'] });
    expect(payment.transactions.map(({ kind }) => kind)).toEqual(['wrong_token', 'wrong_token']);
    expect([await shop.balance('USDT'), await shop.balance('USDC')]).toEqual(
      Array.from({ length: 2 }, () => ({ ...NOTHING, held: 100 * TOKEN })),
    );
    await shop.send(due.address);
    await shop.settle();
    expect(await shop.payment(due)).toMatchObject({ status: 'completed', amount_received: 100 * TOKEN });
    expect(await shop.balance()).toEqual({ ...NOTHING, available: 100 * TOKEN, held: 100 * TOKEN });
  });

  test('K6: of two open sessions with the same price, money pays the one with its address', async () => {
    shop = await Shop.open(service);
    const [one, two] = [await shop.due({ order_id: 'same' }), await shop.due({ order_id: 'same' })];
    expect(one.address).not.toBe(two.address);
    await shop.send(two.address);
    await shop.settle();
    expect((await shop.payment(one)).status).toBe('pending');
    expect((await shop.payment(two)).status).toBe('completed');
    // An address once given out is its payment's for ever, whoever pays there again.
    await shop.send(two.address);
    await shop.settle();
    expect(await shop.payment(one)).toMatchObject({ status: 'pending', transactions: [] });
    expect(await shop.payment(two)).toMatchObject({ exceptions: ['overpaid'], amount_received: 200 * TOKEN });
  });
});

describe('in time', () => {
  test.each([
    { when: 'a second before its expiry', sent: -1, status: 'completed', exceptions: [] },
    { when: 'in the second of its expiry', sent: 0, status: 'completed', exceptions: [] },
    { when: 'a second after its expiry', sent: 1, status: 'completed', exceptions: ['late'] },
    { when: 'a day after it', sent: 86_400, status: 'completed', exceptions: ['late'] },
    { when: 'more than a day after it', sent: 86_401, status: 'expired', exceptions: ['late'] },
  ])('fault 67, K3: paid $when, read much later', async ({ sent, status, exceptions }) => {
    shop = await Shop.open(service);
    const due = await shop.due({ expires_in: 300 });
    shop.wait((due.session.expires_at ?? 0) + sent - shop.now);
    await shop.send(due.address);
    shop.wait(7_200);
    await shop.scan();
    expect(await shop.payment(due)).toMatchObject({
      status: status === 'expired' ? 'pending' : status,
      exceptions,
    });
    expect(await shop.expire(due)).toBe(false);
    expect(await shop.payment(due)).toMatchObject({ status, exceptions, amount_received: 100 * TOKEN });
    const place = status === 'completed' ? 'available' : 'held';
    expect(await shop.balance()).toEqual({ ...NOTHING, [place]: 100 * TOKEN });
  });

  test('fault 67, K3: if late money never completes by itself, one second decides', async () => {
    shop = await Shop.open(service);
    await writeSetting(shop.deps.db, shop.merchant.merchantId, PAYMENT_SETTINGS.lateSeconds, 0);
    for (const { sent, status } of [
      { sent: 0, status: 'completed' },
      { sent: 1, status: 'expired' },
    ]) {
      const due = await shop.due({ expires_in: 300 });
      shop.wait((due.session.expires_at ?? 0) + sent - shop.now);
      await shop.send(due.address);
      await shop.settle();
      await shop.expire(due);
      expect((await shop.payment(due)).status).toBe(status);
    }
    expect(await shop.balance()).toEqual({ available: 100 * TOKEN, held: 100 * TOKEN, seized: 0 });
  });

  test('fault 67, K3: money after a cancel, even twice, waits for the merchant, and none is lost', async () => {
    shop = await Shop.open(service);
    const due = await shop.due();
    await shop.api.cancelSession(due.session.id);
    // Canceled by the service's own clock, which has gone on.
    shop.wait(60);
    await shop.send(due.address);
    await shop.send(due.address);
    await shop.settle();
    const payment = await shop.payment(due);
    expect(payment).toMatchObject({ status: 'cancelled', amount_received: 200 * TOKEN });
    expect(payment.exceptions.toSorted()).toEqual(['canceled', 'overpaid']);
    expect(await shop.balance()).toEqual({ ...NOTHING, held: 200 * TOKEN });
  });
});

describe('nodes in trouble', () => {
  test('fault 45: one network is unreachable for an hour: others go on, its payments wait, one scan clears its backlog', async () => {
    shop = await Shop.open(service);
    const [away, other] = [await shop.due(), await shop.due({}, { currency: 'USDT', network: 'spl' })];
    const unpaid = await shop.due({ expires_in: 300 });
    await shop.scan();
    await shop.chain().outage(3_600);
    await shop.send(away.address);
    await shop.send(other.address, {}, 'spl');
    for (let minute = 0; minute < 59; minute++) {
      shop.wait(60);
      await shop.scan();
      await shop.scan('spl');
    }
    await expect(shop.chain().head()).rejects.toThrow(ChainUnavailable);
    expect((await shop.payment(other)).status).toBe('completed');
    for (const due of [away, unpaid]) {
      expect(await shop.expire(due)).toBe(true);
      expect((await shop.payment(due)).status).toBe('pending');
    }
    shop.wait(120);
    await shop.scan();
    expect(await shop.payment(away)).toMatchObject({ status: 'completed', exceptions: [] });
    expect(await shop.expire(unpaid)).toBe(false);
    expect((await shop.payment(unpaid)).status).toBe('expired');
  });

  test('fault 47: a node that falls back 50 blocks revokes nothing; when it jumps ahead, nothing is skipped or doubled', async () => {
    shop = await Shop.open(service);
    const [first, second, third] = [await shop.due(), await shop.due(), await shop.due()];
    await shop.send(first.address);
    await shop.settle();
    await shop.send(second.address);
    await shop.scan();
    expect((await shop.payment(second)).status).toBe('processing');
    await shop.chain().lag(50);
    await shop.send(third.address);
    for (let i = 0; i < 5; i++) {
      shop.wait(8);
      await shop.scan();
    }
    // The node shows neither yet, which proves nothing of what another has shown.
    expect((await shop.payment(first)).status).toBe('completed');
    expect((await shop.payment(second)).transactions).toMatchObject([{ status: 'seen' }]);
    expect((await shop.payment(third)).transactions).toEqual([]);
    await shop.chain().lag(0);
    await shop.scan();
    for (const due of [first, second, third])
      expect(await shop.payment(due)).toMatchObject({ status: 'completed', amount_received: 100 * TOKEN });
    await shop.chain().lag(20);
    await shop.scan();
    await shop.chain().lag(0);
    await shop.scan();
    expect(await shop.balance()).toEqual({ ...NOTHING, available: 300 * TOKEN });
  });

  test('fault 46: a deposit that a node omits at the tip is credited when it is final', async () => {
    shop = await Shop.open(service);
    const due = await shop.due();
    await shop.scan();
    await shop.send(due.address);
    await shop.chain().injectFaults('lose_tip_log');
    await shop.scan();
    expect((await shop.payment(due)).transactions).toEqual([]);
    await shop.settle();
    expect((await shop.payment(due)).status).toBe('completed');
  });
});

describe('much at once', () => {
  test(`fault 65: ${DUST} deposits of dust in one block, on a hundred payments`, {
    timeout: 300_000,
  }, async () => {
    shop = await Shop.open(service);
    const addresses: string[] = [];
    let last = await shop.due();
    for (let i = 0; i < 100; i++) {
      last = await shop.due();
      addresses.push(last.address);
    }
    const { address: from } = await shop.chain().depositAddress({ index: 1_000_000 });
    const transfers = Array.from({ length: DUST }, (_, i) => ({
      from,
      to: addresses[i % addresses.length] ?? '',
      amount: 1n,
      asset: 'USDT' as const,
    }));
    await shop.chain().pay({ transfers });
    await shop.chain().mine(3);
    const startedMs = performance.now();
    await shop.scan();
    const tookMs = performance.now() - startedMs;
    console.log(`${DUST} deposits of dust were credited in ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeLessThan(60_000);
    expect(await shop.balance()).toEqual({ ...NOTHING, held: DUST });
    expect(await shop.payment(last)).toMatchObject({ amount_received: DUST / 100 });
  });

  test('fault 65: a hundred parts of a hundredth add up to the last unit', async () => {
    shop = await Shop.open(service);
    // 33.333333 in a hundred parts: 99 of 333,333 and one of 333,366.
    const due = await shop.due({ amount: 33_333_333 });
    for (let i = 0; i < 100; i++) {
      await shop.send(due.address, { amount: i === 99 ? 333_366n : 333_333n });
      if (i % 10 === 9) shop.wait(1);
      if (i % 25 === 24) await shop.scan();
    }
    await shop.settle();
    const payment = await shop.payment(due);
    expect(payment).toMatchObject({ status: 'completed', amount_received: 33_333_333, exceptions: [] });
    expect(payment.transactions).toHaveLength(100);
    expect(await shop.balance()).toEqual({ ...NOTHING, available: 33_333_333 });
  });
});
