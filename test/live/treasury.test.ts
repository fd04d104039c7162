import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { watchTank } from '../../packages/server/src/custody/watch-tank.ts';
import { readHotWallets } from '../../packages/server/src/monitoring/treasury.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { treasuryCommands } from '../../packages/server/src/operator/treasury.ts';
import { TANK } from '../chains/evm/key-signer.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { LiveStore, WITHIN } from './live-store.ts';
import { ETHER_DOLLARS, startRatesProvider } from './rates-provider.ts';

const LONG = { timeout: 180_000 };

describe.skipIf(!hasAnvil())('a merchant whose hot wallet holds neither coins nor ether', () => {
  let store: LiveStore;
  let provider: Awaited<ReturnType<typeof startRatesProvider>>;

  beforeAll(async () => {
    store = await LiveStore.start();
    provider = await startRatesProvider();
    await settingCommands(store.service.app).set('rates.sources', provider.source);
  }, 120_000);
  afterAll(async () => {
    await store?.stop();
    provider?.stop();
  });

  const attempts = () =>
    asOwner<{ kind: string; status: string; fee: string | null; usd: string | null }>(
      store.service,
      `select coalesce(movement ->> 'kind', case when key_ref = 'tank' then 'sweep' else 'payment' end) as kind,
         status, fee_native::text as fee, fee_usd::text as usd
       from transfer_attempt where merchant_id = $1 order by attempt_id`,
      [store.merchant.merchantId],
    );

  test(
    'a payout sweeps what it needs, gets ether and an allowance, and is paid; all fees are kept',
    LONG,
    async () => {
      const { world, hot } = store;
      const sessions = [await store.open(40), await store.open(30), await store.open(50)];
      for (const { address, due } of sessions) await world.mint('USDT', address, due);
      for (const { paymentId } of sessions)
        await store.until(() => store.payment(paymentId), { status: 'completed' });
      await store.expectBooksAgree();
      const id = await store.submitted([
        { address: freshAddress(700), amount: '60.00' },
        { address: freshAddress(701), amount: '45.00' },
      ]);
      await store.until(() => store.batch(id), { status: 'completed' });
      expect(await world.balance('USDT', freshAddress(700))).toBe(60_000_000n);
      expect(await world.balance('USDT', freshAddress(701))).toBe(45_000_000n);
      expect(await world.balance('USDT', hot)).toBe(15_000_000n);
      for (const { address } of sessions) expect(await world.balance('USDT', address)).toBe(0n);
      await store.expectSettled();

      const done = await attempts();
      // Deposits that become final in one look share a sweep; they may do so in several.
      const isSweep = ({ kind }: { kind: string }) => kind === 'sweep';
      const others = done.filter((attempt) => !isSweep(attempt)).map(({ kind }) => kind);
      expect(others.toSorted()).toEqual(['approve', 'deploy', 'gas', 'payment']);
      const sweeps = done.filter(isSweep).length;
      expect(sweeps).toBeGreaterThanOrEqual(1);
      expect(sweeps).toBeLessThanOrEqual(sessions.length);
      expect(done.every(({ status, fee }) => status === 'succeeded' && BigInt(fee ?? 0) > 0n)).toBe(true);
      for (const { fee, usd } of done)
        expect(Number(usd)).toBeCloseTo((Number(fee) / 1e18) * ETHER_DOLLARS, 5);
      const ether = await world.client.getBalance({ address: hot });
      expect(ether).toBeGreaterThan(0n);
      expect(ether).toBeLessThan(parseEther('0.25'));
      const [tank, , own] = await treasuryCommands(store.service.app).status();
      expect(tank).toMatchObject({ wallet: 'gas_tank', address: TANK.address, coin_usd: expect.any(String) });
      expect(Number(tank?.fees_30_days_usd)).toBeGreaterThan(0);
      expect(own).toMatchObject({ wallet: 'hot', address: hot, USDT: '15.00', unswept_USDT: '0.00' });
      expect(Number(own?.coin)).toBeCloseTo(Number(ether) / 1e18, 12);
      expect(Number(own?.fees_30_days_usd)).toBeGreaterThan(Number(tank?.fees_30_days_usd));
      const page = { network: 'erc20' as const, limit: 20, after: undefined };
      const { wallets, next } = await readHotWallets(store.service.app, page);
      expect(next).toBeUndefined();
      expect(wallets.find(({ held }) => held?.address === hot)).toMatchObject({
        held: { address: hot, native: ether, tokens: { USDT: 15_000_000n } },
        ceiling: { native: parseEther('0.25'), setting: 'transfers.gas_ceiling' },
        trouble: undefined,
        underWay: [],
      });
    },
  );

  test(
    'J6, fault 54: while the gas tank is empty payouts wait, fail nothing, and go on once it is filled',
    LONG,
    async () => {
      const { world, hot, service } = store;
      const ether = await world.client.getBalance({ address: TANK.address });
      await world.client.setBalance({ address: TANK.address, value: 0n });
      await world.client.setBalance({ address: hot, value: 0n });
      const logged: object[] = [];
      const error = (fields: object) => logged.push(fields);
      await watchTank({ ...service.app, log: { ...service.app.log, error } as typeof service.app.log });
      expect(logged).toEqual([expect.objectContaining({ event: 'gas_tank_low', address: TANK.address })]);
      const before = await attempts();
      const id = await store.submitted([{ address: freshAddress(710), amount: '5.00' }]);
      for (let i = 0; i < 8; i++)
        await store.until(() => store.batch(id), { status: expect.stringMatching(/pending|processing/) });
      expect(await attempts()).toEqual(before);
      const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
      expect(metrics).toContain('florin_gas_tank_coins{network="erc20"} 0');
      const height = Number(/^florin_network_height\{network="erc20"\} (\d+)$/m.exec(metrics)?.[1]);
      expect(height).toBeGreaterThan(0);
      expect(height).toBeLessThanOrEqual(Number(await world.client.getBlockNumber()));
      expect(metrics).toMatch(/^florin_network_read_timestamp_seconds\{network="erc20"\} \d{10}$/m);
      await world.client.setBalance({ address: TANK.address, value: ether });
      await store.until(() => store.batch(id), { status: 'completed' });
      expect(await world.balance('USDT', freshAddress(710))).toBe(5_000_000n);
      await store.expectSettled();
    },
  );

  test(
    'a person orders a top-up and a sweep; what is above the ceiling, or more than there is, is refused',
    LONG,
    async () => {
      const { world, hot, id: own } = store;
      const treasury = treasuryCommands(store.service.app);
      const before = parseEther('0.12');
      await world.client.setBalance({ address: hot, value: before });
      const refused = { code: 'invalid_request' };
      for (const amount of ['0', '-1', '1e3', '0.11', '0.3', '1000'])
        await expect(treasury.topUp(own, 'erc20', amount)).rejects.toMatchObject(refused);
      await expect(treasury.topUp(own, 'trc20', '0.01')).rejects.toMatchObject({
        code: 'service_unavailable',
      });
      expect(await treasury.topUp(own, 'erc20', '0.01')).toMatchObject({
        amount: '0.01',
        amount_usd: '25.00',
      });
      // What is on its way counts: two orders at once do not exceed what each of them may.
      const twice = [0, 1].map(() => treasury.topUp(own, 'erc20', '0.08'));
      const orders = await Promise.allSettled(twice);
      expect(orders.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      await expect(treasury.topUp(own, 'erc20', '0.08')).rejects.toMatchObject(refused);
      await expect
        .poll(async () => {
          await world.mine(1);
          return await world.client.getBalance({ address: hot });
        }, WITHIN)
        .toBe(before + parseEther('0.09'));

      // Less than `custody.sweep_minimum`: it lies there until somebody wants it.
      const { address } = await store.paid(4);
      const held = await world.balance('USDT', hot);
      expect(await treasury.sweep(own, 'erc20')).toMatchObject({ unswept_USDT: '4.00' });
      await store.until(async () => ({ left: await world.balance('USDT', address) }), { left: 0n });
      expect(await world.balance('USDT', hot)).toBe(held + 4_000_000n);
      await store.expectSettled();
    },
  );
});
