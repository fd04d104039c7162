import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { advanceClockJobs } from '../../packages/server/src/platform/jobs/index.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { FINAL_BLOCKS, TronEnvironment } from '../chains/tron/environment.ts';
import { KEYS } from '../chains/tron/key-signer.ts';
import { signTyped } from '../chains/tron/mandate-payers.ts';
import { TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { call, keyOf, TRX } from '../nodes/tron-stage.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { startWholeSigner } from '../signer/whole-signer.ts';
import { billing, DAY, item } from '../subscriptions/billing.ts';
import { ETHEREUM_AWAY } from './ethereum-away.ts';

// Mandates of a live store on a local Tron, with a signer behind its socket. Nothing answers for Ethereum.

vi.setConfig({ testTimeout: 120_000 });

const WITHIN = { timeout: 60_000, interval: 100 };
const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);

interface Offer {
  wallet: string;
  cap: string;
  subscriptions: number;
  starts_at: number;
  steps: [{ spender: string; amount: string }, { typed_data: string }];
}

describe.skipIf(!hasAnvil())('mandates and charges of live stores on a local Tron', () => {
  let local: TronEnvironment;
  let signer: Awaited<ReturnType<typeof startWholeSigner>>;
  let service: TestService;
  const stores: TestMerchant[] = [];

  beforeAll(async () => {
    local = await TronEnvironment.start();
    const { genesisHash, feeCeilings, collector } = local.network;
    signer = await startWholeSigner(
      (policy) => {
        Object.assign(policy.networks.trc20, {
          genesis: genesisHash,
          tokens: { USDT: local.token('USDT'), USDC: local.token('USDC') },
          collector,
          fee_limit: String(feeCeilings.feeLimit),
          gas_top_up: String(100 * TRX),
          gas_top_ups_per_day: String(1_000 * TRX),
        });
      },
      // Blocks are made by hand, each 3 seconds after the one before.
      () => local.node.chain.head.time,
    );
    service = await startService({
      live: { network: ETHEREUM_AWAY, tron: local.network, signer: { socket: signer.socket } },
    });
    await service.startWorker();
    for (let i = 0; i < 3; i++) {
      const merchant = await service.createMerchant({ mode: 'live', network: 'trc20' });
      await networkCommands(service.app).enable(encodeId('merchant', merchant.merchantId), 'trc20');
      stores.push(merchant);
    }
    await settingCommands(service.app).set('refunds.delay_seconds', '0');
    local.node.fund(KEYS.hot(0).address, 1_000 * TRX);
    await local.mine(FINAL_BLOCKS);
  }, 60_000);
  afterAll(async () => {
    await service?.stop();
    await signer?.stop();
    await local?.node.stop();
  });

  const storeAt = (place: number): TestMerchant => {
    const store = stores[place];
    if (store === undefined) throw new Error(`there is no store ${place}`);
    return store;
  };
  const calls = (store: TestMerchant) => billing(service, store);

  async function until(what: () => Promise<unknown>, expected: object): Promise<void> {
    await vi.waitFor(async () => {
      await local.mine(1);
      expect(await what()).toMatchObject(expected);
    }, WITHIN);
  }

  async function payerOf(name: string) {
    const payer = keyOf(name);
    local.node.fund(payer.address, 1_000 * TRX);
    await local.give('USDT', payer.address, FUNDS);
    return payer;
  }
  type Payer = Awaited<ReturnType<typeof payerOf>>;
  const balanceOf = ({ address }: Payer) => local.balanceOf('USDT', address);
  const options = () => ({ contract: local.token('USDT'), url: local.node.url, validMs: 600_000 });

  async function approve(payer: Payer, spender: string, amount: bigint): Promise<void> {
    const method = 'approve(address,uint256)';
    await local.sendTogether([await call(payer, method, [spender, amount], options())]);
  }

  async function post(url: string, form: Record<string, string>) {
    const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
    return { status: answer.status, json: (await answer.json()) as unknown };
  }

  const CHOICE = { network: 'trc20', currency: 'USDT' };

  async function offerOf(page: string, payer: Payer): Promise<Offer> {
    const { status, json } = await post(`${page}/mandate/offer`, { ...CHOICE, wallet: payer.address });
    expect({ status, json }).toMatchObject({ status: 200 });
    return json as Offer;
  }

  async function give(page: string, { steps: [, activate], ...offer }: Offer, by: Payer) {
    const { wallet, cap, subscriptions, starts_at } = offer;
    const terms = { wallet, cap, subscriptions: String(subscriptions), starts_at: String(starts_at) };
    const signature = signTyped(by.secret, activate.typed_data);
    return await post(`${page}/mandate/sign`, { ...CHOICE, ...terms, signature });
  }

  const order = (store: TestMerchant, customer: string) =>
    calls(store).make({ customer, currency: 'USDT', items: [item(PRICE, 'month', 'USDT')] });

  const attempts = (store: TestMerchant) =>
    asOwner<{ kind: string; status: string }>(
      service,
      `select coalesce(movement ->> 'kind', 'charge') as kind, status from transfer_attempt
       where merchant_id = $1 and coalesce(movement ->> 'kind', '') <> 'gas' and status <> 'dead' order by attempt_id`,
      [store.merchantId],
    );

  async function expectBooksAgree(): Promise<void> {
    await local.mine(FINAL_BLOCKS + 1);
    const { differences, surpluses, unseen } = await verifyLedger(service.app, () => {});
    expect({ differences, surpluses }).toEqual({ differences: [], surpluses: [] });
    expect(unseen.filter((line) => line.includes('trc20'))).toEqual([]);
  }

  /** Both clocks, and what is due by then. */
  async function pass({ merchantId }: TestMerchant, seconds: number): Promise<void> {
    const clock = 'update merchant set clock_offset = clock_offset + $2 where merchant_id = $1';
    await asOwner(service, clock, [merchantId, seconds]);
    local.node.chain.moveClock(seconds * 1_000);
    await local.mine(FINAL_BLOCKS);
    await transact(service.app.db, (tx) =>
      advanceClockJobs(tx, merchantId, { ms: seconds * 1_000, nowMs: Date.now(), retryKinds: [] }),
    );
  }

  test('one wallet gives a mandate to each of two merchants: accounts and windows of their own, one allowance', async () => {
    const payer = await payerOf('a payer of two merchants');
    const both = [storeAt(0), storeAt(1)];
    const ids: string[] = [];
    for (const store of both) {
      const ordered = await order(store, 'a customer of both');
      const offer = await offerOf(ordered.checkout_url ?? '', payer);
      const [{ spender, amount }] = offer.steps;
      if (ids.length === 0) await approve(payer, spender, 2n * BigInt(amount));
      expect(await give(ordered.checkout_url ?? '', offer, payer)).toMatchObject({ status: 200 });
      ids.push(ordered.id);
    }
    for (const [i, store] of both.entries())
      await until(() => calls(store).read(ids[i] ?? ''), { status: 'active' });
    expect(await balanceOf(payer)).toBe(FUNDS - 2n * BigInt(PRICE));
    const made = ['account', 'activate', 'charge'].map((kind) => ({ kind, status: 'succeeded' }));
    for (const store of both) await until(() => attempts(store), made);
    await expectBooksAgree();
  });

  test('a mandate is given, its account opened, TRX brought, and two periods are pulled; revoked, it is charged no more', async () => {
    const store = storeAt(2);
    const ordered = await order(store, 'a customer');
    const page = ordered.checkout_url ?? '';
    const payer = await payerOf('a payer of a subscription');
    const offer = await offerOf(page, payer);
    // Nothing was approved yet.
    expect(await give(page, offer, payer)).toMatchObject({
      status: 400,
      json: { error: { param: 'wallet' } },
    });
    const [approval] = offer.steps;
    await approve(payer, approval.spender, BigInt(approval.amount));
    const refused = { status: 400, json: { error: { param: 'signature' } } };
    expect(await give(page, offer, keyOf('a stranger'))).toMatchObject(refused);
    expect(await give(page, offer, payer)).toMatchObject({ status: 200 });
    await until(() => calls(store).read(ordered.id), { status: 'active' });
    expect(await balanceOf(payer)).toBe(FUNDS - BigInt(PRICE));
    const made = ['account', 'activate', 'charge'].map((kind) => ({ kind, status: 'succeeded' }));
    await until(() => attempts(store), made);
    await expectBooksAgree();

    await pass(store, 32 * DAY);
    const charged = { kind: 'charge', status: 'succeeded' };
    await until(() => attempts(store), [...made, charged]);
    expect(await balanceOf(payer)).toBe(FUNDS - 2n * BigInt(PRICE));
    await expectBooksAgree();

    await approve(payer, approval.spender, 0n);
    await local.mine(FINAL_BLOCKS);
    await pass(store, 31 * DAY);
    await until(() => calls(store).latest(ordered.id), { status: 'open', payment_status: 'failed' });
    // It would have failed: nothing was sent, and nothing burnt.
    expect(await attempts(store)).toEqual([...made, charged]);
    expect(await balanceOf(payer)).toBe(FUNDS - 2n * BigInt(PRICE));
    await expectBooksAgree();
  });
});
