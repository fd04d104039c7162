import { type Hex, parseEventLogs, parseGwei, zeroHash } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Collector } from '../../contracts/artifacts/index.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { TOKEN } from '../checkout/requests.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { COLLECTOR, LiveStore, WITHIN } from './live-store.ts';
import { PayerWallet } from './payer-wallet.ts';

const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);

describe.skipIf(!hasAnvil())('mandates and charges of a live store on a local Ethereum', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true });
  }, 120_000);
  afterAll(() => store?.stop());

  let customers = 0;
  const calls = () => billing(store.service, store.merchant);
  const order = async () => {
    customers += 1;
    const items = [item(PRICE, 'month', 'USDT')];
    const ordered = await calls().make({ customer: `customer-${customers}`, currency: 'USDT', items });
    return { ...ordered, page: ordered.checkout_url ?? '' };
  };
  const attempts = () =>
    asOwner<{ kind: string; status: string }>(
      store.service,
      `select coalesce(movement ->> 'kind', 'charge') as kind, status from transfer_attempt
       where merchant_id = $1 and coalesce(movement ->> 'kind', '') <> 'gas' order by attempt_id`,
      [store.merchant.merchantId],
    );
  const failures = async (id: string) => {
    const rows = await asOwner<{ failure_code: string | null; tx_id: string | null }>(
      store.service,
      `select failure_code, tx_id from transfer where merchant_id = $1 and charge ->> 'subscriptionId' = $2
       and status = 'failed' order by transfer_id`,
      [store.merchant.merchantId, decodeId('subscription', id)],
    );
    return rows.map(({ failure_code: code, tx_id: txId }) => ({ code, isSent: txId !== null }));
  };
  test('a signed mandate opens the account, is activated and charged; the next one needs no account', async () => {
    for (let i = 0; i < 2; i++) {
      const ordered = await order();
      const payer = await PayerWallet.start(store, FUNDS);
      await payer.subscribe(ordered);
      await store.until(() => calls().read(ordered.id), { status: 'active' });
      expect(await payer.balance()).toBe(FUNDS - BigInt(PRICE));
    }
    expect(await attempts()).toEqual(
      ['account', 'activate', 'charge', 'activate', 'charge'].map((kind) => ({ kind, status: 'succeeded' })),
    );
    await store.expectSettled();
  });

  test('what a page hands back that its wallet has not approved or signed is refused in words, and nothing is sent', async () => {
    const before = await attempts();
    const [ordered, other] = [await order(), await order()];
    const payer = await PayerWallet.start(store, FUNDS);
    const offer = await payer.offer(ordered.page);
    const signature = await payer.sign(offer);
    const refused = (param: string) => ({
      status: 400,
      json: { error: { param } },
    });
    const give = (change: object, by: Hex = signature, page = ordered.page) =>
      payer.give(page, { ...offer, ...change }, by);
    expect(await give({})).toMatchObject(refused('wallet'));
    await payer.approve(COLLECTOR, FUNDS);
    const stranger = privateKeyToAccount(generatePrivateKey());
    expect(await give({}, await payer.sign(offer, stranger))).toMatchObject(refused('signature'));
    expect(await give({ wallet: stranger.address })).toMatchObject(refused('signature'));
    expect(await give({ cap: String(BigInt(offer.cap) * 2n) })).toMatchObject(refused('signature'));
    expect(await give({ subscriptions: 1_000 })).toMatchObject(refused('signature'));
    expect(await give({ cap: '1' })).toMatchObject(refused('cap'));
    expect(await give({ starts_at: 1 })).toMatchObject(refused('starts_at'));
    expect(await give({ starts_at: offer.starts_at + 86_400 })).toMatchObject(refused('starts_at'));
    expect(await give({}, signature, other.page)).toMatchObject(refused('signature'));
    for (const bad of ['', '0x', 'nonsense', zeroHash, signature.slice(0, -2), malleable(signature)])
      expect(await give({}, bad as Hex)).toMatchObject(refused('signature'));
    await store.world.mine(1);
    expect(await attempts()).toEqual(before);
    expect(await calls().read(ordered.id)).toMatchObject({ status: 'incomplete' });
  });

  test('a page’s call twice, and from two tabs at once, is one mandate and one charge', async () => {
    const ordered = await order();
    const payer = await PayerWallet.start(store, FUNDS);
    await payer.approve(COLLECTOR, FUNDS);
    const offer = await payer.offer(ordered.page);
    const signature = await payer.sign(offer);
    const twice = await Promise.all([1, 2].map(() => payer.give(ordered.page, offer, signature)));
    expect(twice.map(({ status }) => status)).toEqual([200, 200]);
    await store.until(() => calls().read(ordered.id), { status: 'active' });
    expect(await payer.balance()).toBe(FUNDS - BigInt(PRICE));
  });

  test('two tabs that have read terms of their own: both mandates are taken, and the period is charged once', async () => {
    const ordered = await order();
    const payer = await PayerWallet.start(store, FUNDS);
    await payer.approve(COLLECTOR, FUNDS);
    const first = await payer.offer(ordered.page);
    let second = first;
    await expect
      .poll(async () => {
        second = await payer.offer(ordered.page);
        return second.starts_at;
      }, WITHIN)
      .not.toBe(first.starts_at);
    const signed = await Promise.all([first, second].map((offer) => payer.sign(offer)));
    const given = await Promise.all(
      [first, second].map((offer, i) => payer.give(ordered.page, offer, signed[i] ?? '0x')),
    );
    expect(given.map(({ status }) => status)).toEqual([200, 200]);
    await store.until(() => calls().read(ordered.id), { status: 'active' });
    await store.expectSettled();
    expect(await payer.balance()).toBe(FUNDS - BigInt(PRICE));
  });

  test('a mandate that serves as many subscriptions as were signed for is refused in words; the page takes another', async () => {
    const ordered = await order();
    const payer = await PayerWallet.start(store, FUNDS);
    await payer.subscribe(ordered);
    await store.until(() => calls().read(ordered.id), { status: 'active' });
    const { customer, payment_method_id: method } = await calls().read(ordered.id);
    const items = [item(PRICE, 'month', 'USDT')];
    const second = { customer, currency: 'USDT', items };
    expect(await calls().create({ ...second, payment_method_id: method })).toMatchObject({
      status: 400,
      json: {
        error: { param: 'payment_method_id', message: expect.stringContaining('asks for a new signature') },
      },
    });
    await calls().update(ordered.id, { payment_method_id: method ?? '' });
    const other = await calls().make(second);
    await payer.subscribe(other);
    await store.until(() => calls().read(other.id), { status: 'active' });
    expect(await payer.balance()).toBe(FUNDS - 2n * BigInt(PRICE));
    await store.expectSettled();
  });

  test('a wallet that is emptied after it has signed fails the charge unsent, with its reason', async () => {
    const ordered = await order();
    const payer = await PayerWallet.start(store, FUNDS);
    await payer.subscribe(ordered);
    await store.world.transfer('USDT', payer.account, freshAddress(90), FUNDS);
    await expect
      .poll(async () => {
        await store.world.mine(1);
        return await failures(ordered.id);
      }, WITHIN)
      .toEqual([{ code: 'insufficient_balance', isSent: false }]);
    await store.until(() => calls().latest(ordered.id), { status: 'open', payment_status: 'failed' });
    await store.expectSettled();
  });

  test('a signature is taken while fees are above the ceiling, and charged when they fall', async () => {
    const { client } = store.world;
    const ordered = await order();
    const payer = await PayerWallet.start(store, FUNDS);
    await payer.approve(COLLECTOR, FUNDS);
    const offer = await payer.offer(ordered.page);
    const signature = await payer.sign(offer);
    const before = await attempts();
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('500') });
    await store.world.mine(1);
    // Each try begins with the fees.
    let tries = 0;
    store.node.deny = ({ method }) => {
      if (method === 'eth_feeHistory') tries += 1;
      return undefined;
    };
    expect(await payer.give(ordered.page, offer, signature)).toMatchObject({ status: 200 });
    await vi.waitFor(() => expect(tries).toBeGreaterThan(2), WITHIN);
    store.node.behave();
    expect(await attempts()).toEqual(before);
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('1') });
    await store.world.mine(1);
    await store.until(() => calls().read(ordered.id), { status: 'active' });
    expect(await failures(ordered.id)).toEqual([]);
    await store.expectSettled();
  });

  test('of two workers one activates each mandate, and one charges it', async () => {
    await store.service.startWorker();
    const all = await Promise.all([1, 2, 3, 4, 5].map(order));
    for (const ordered of all) await (await PayerWallet.start(store, FUNDS)).subscribe(ordered);
    for (const { id } of all) await store.until(() => calls().read(id), { status: 'active' });
    const logs = await store.world.client.getLogs({ fromBlock: 0n, address: COLLECTOR });
    const events = parseEventLogs({ abi: Collector.abi, logs }).map(({ eventName }) => eventName);
    const count = (name: string) => events.filter((one) => one === name).length;
    const [charged] = await asOwner<{ count: number }>(
      store.service,
      "select count(*)::int from transfer where merchant_id = $1 and status = 'succeeded'",
      [store.merchant.merchantId],
    );
    expect([count('Opened'), count('Charged'), count('ChargedBefore')]).toEqual([1, charged?.count, 0]);
    await store.expectSettled();
  });
});

/** The twin of a signature, with s above half of the curve's order. */
function malleable(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = order - BigInt(`0x${signature.slice(66, 130)}`);
  const v = signature.slice(130) === '1b' ? '1c' : '1b';
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}` as Hex;
}
