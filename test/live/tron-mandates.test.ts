import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FINAL_BLOCKS } from '../chains/tron/environment.ts';
import { TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { TRX } from '../nodes/tron-client.ts';
import type { TestMerchant, TestService } from '../service.ts';
import { billing, DAY, item } from '../subscriptions/billing.ts';
import { TronPayer } from './tron-payer.ts';
import { TronStore } from './tron-store.ts';

// Mandates of a live store on a local Tron, with a signer behind its socket. Nothing answers for Ethereum.

const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);

describe.skipIf(!hasAnvil())('mandates and charges of live stores on a local Tron', () => {
  let live: TronStore;
  let local: TronStore['local'];
  let service: TestService;
  const stores: TestMerchant[] = [];

  beforeAll(async () => {
    live = await TronStore.start({ tank: 1_000 * TRX });
    ({ local, service } = live);
    stores.push(live.merchant, await live.another(), await live.another());
  }, 60_000);
  afterAll(async () => {
    await live?.stop();
  });

  const storeAt = (place: number): TestMerchant => {
    const found = stores[place];
    if (found === undefined) throw new Error(`there is no store ${place}`);
    return found;
  };
  const calls = (store: TestMerchant) => billing(service, store);

  const until: TronStore['until'] = (what, expected) => live.until(what, expected);

  const payerOf = (name: string) => TronPayer.start(live, name, FUNDS);

  const order = (store: TestMerchant, customer: string) =>
    calls(store).make({ customer, currency: 'USDT', items: [item(PRICE, 'month', 'USDT')] });

  const attempts = (store: TestMerchant) =>
    asOwner<{ kind: string; status: string }>(
      service,
      `select coalesce(movement ->> 'kind', 'charge') as kind, status from transfer_attempt
       where merchant_id = $1 and coalesce(movement ->> 'kind', '') <> 'gas' and status <> 'dead' order by attempt_id`,
      [store.merchantId],
    );

  const expectBooksAgree = () => live.expectBooksAgree();

  /** Both clocks, and what is due by then. */
  async function pass(merchant: TestMerchant, seconds: number): Promise<void> {
    local.node.chain.moveClock(seconds * 1_000);
    await local.mine(FINAL_BLOCKS);
    await live.pass([merchant], seconds);
  }

  test('one wallet gives a mandate to each of two merchants: accounts and windows of their own, one allowance', async () => {
    const payer = await payerOf('a payer of two merchants');
    const both = [storeAt(0), storeAt(1)];
    const ids: string[] = [];
    for (const store of both) {
      const ordered = await order(store, 'a customer of both');
      const offer = await payer.offer(ordered);
      const [{ spender, amount }] = offer.steps;
      if (ids.length === 0) await payer.approve(spender, 2n * BigInt(amount));
      expect(await payer.give(ordered, offer)).toMatchObject({ status: 200 });
      ids.push(ordered.id);
    }
    for (const [i, store] of both.entries())
      await until(() => calls(store).read(ids[i] ?? ''), { status: 'active' });
    expect(await payer.balance()).toBe(FUNDS - 2n * BigInt(PRICE));
    const made = ['account', 'activate', 'charge'].map((kind) => ({ kind, status: 'succeeded' }));
    for (const store of both) await until(() => attempts(store), made);
    await expectBooksAgree();
  });

  test('a mandate is given, its account opened, TRX brought, and two periods are pulled; revoked, it is charged no more', async () => {
    const store = storeAt(2);
    const ordered = await order(store, 'a customer');
    const payer = await payerOf('a payer of a subscription');
    const offer = await payer.offer(ordered);
    // Nothing was approved yet.
    expect(await payer.give(ordered, offer)).toMatchObject({
      status: 400,
      json: { error: { param: 'wallet' } },
    });
    const [approval] = offer.steps;
    await payer.approve(approval.spender, BigInt(approval.amount));
    const refused = { status: 400, json: { error: { param: 'signature' } } };
    expect(await new TronPayer(live, 'a stranger').give(ordered, offer)).toMatchObject(refused);
    expect(await payer.give(ordered, offer)).toMatchObject({ status: 200 });
    await until(() => calls(store).read(ordered.id), { status: 'active' });
    expect(await payer.balance()).toBe(FUNDS - BigInt(PRICE));
    const made = ['account', 'activate', 'charge'].map((kind) => ({ kind, status: 'succeeded' }));
    await until(() => attempts(store), made);
    await expectBooksAgree();

    await pass(store, 32 * DAY);
    const charged = { kind: 'charge', status: 'succeeded' };
    await until(() => attempts(store), [...made, charged]);
    expect(await payer.balance()).toBe(FUNDS - 2n * BigInt(PRICE));
    await expectBooksAgree();

    await payer.approve(approval.spender, 0n);
    await local.mine(FINAL_BLOCKS);
    await pass(store, 31 * DAY);
    await until(() => calls(store).latest(ordered.id), { status: 'open', payment_status: 'failed' });
    // It would have failed: nothing was sent, and nothing burnt.
    expect(await attempts(store)).toEqual([...made, charged]);
    expect(await payer.balance()).toBe(FUNDS - 2n * BigInt(PRICE));
    await expectBooksAgree();
  });
});
