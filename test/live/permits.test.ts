import { setTimeout as sleep } from 'node:timers/promises';
import { type Abi, type Address, type Hex, parseGwei, parseTransaction, toFunctionSelector } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Collector, TestUSDC } from '../../contracts/artifacts/index.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { decodeId, encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { by, mined, OWNER } from '../../scripts/local-chain.ts';
import type { Call } from '../chains/evm/faulty-node.ts';
import { TOKEN } from '../checkout/requests.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { advanceLive, moveClock } from '../journeys/subscription-worlds.ts';
import { asOwner } from '../ledger.ts';
import { billing, DAY, item } from '../subscriptions/billing.ts';
import { COLLECTOR, LiveStore, WITHIN } from './live-store.ts';
import { PayerWallet, permitOf, sendPermit } from './payer-wallet.ts';

const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);
/** Twice the price for 24 months. */
const APPROVED = BigInt(PRICE) * 48n;
const ABI: Abi = Collector.abi;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const ACTIVATE_WITH_PERMIT = toFunctionSelector(
  ABI.find((one) => one.type === 'function' && one.name === 'activateWithPermit') as never,
);

const PERMIT = toFunctionSelector('permit(address,address,uint256,uint256,uint8,bytes32,bytes32)');

type Offer = Awaited<ReturnType<PayerWallet['offer']>>;
interface Typed {
  domain: { chainId: number; verifyingContract: Address };
  message: Record<string, unknown>;
}

describe.skipIf(!hasAnvil())('approvals that payers of USDC sign', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true });
  }, 240_000);
  afterEach(async () => {
    store.node.behave();
    await store.expectSettled();
  }, 90_000);
  afterAll(() => store?.stop());

  const calls = () => billing(store.service, store.merchant);
  let customers = 0;
  async function ordered(more: object = {}) {
    customers += 1;
    const items = [item(PRICE, 'month', 'USDC')];
    const made = await calls().make({ customer: `permit-${customers}`, currency: 'USDC', items, ...more });
    const payer = await PayerWallet.start(store, FUNDS, 'USDC');
    return { ...made, payer, page: made.checkout_url ?? '' };
  }
  const isActive = (id: string) => store.until(() => calls().read(id), { status: 'active' });
  /** How mandates were brought to the chain, by transactions of ours. */
  const brought = async (mandate: Offer) => {
    const rows = await asOwner<{ permitted: boolean; status: string }>(
      store.service,
      `select movement ? 'permit' as permitted, status from transfer_attempt
       where movement ->> 'kind' = 'activate' and movement -> 'mandate' ->> 'payer' = $1 order by attempt_id`,
      [mandate.wallet],
    );
    return rows;
  };

  const activation = ({ wallet, starts_at }: Offer) =>
    asOwner<{ status: string; fault: string | null }>(
      store.service,
      `select status, fault from mandate_activation
       where merchant_id = $1 and mandate ->> 'payer' = $2 and mandate ->> 'startsAt' = $3`,
      [store.merchant.merchantId, wallet, String(starts_at)],
    );
  /** A second reading, a minute after the first one, has to say the same. */
  const untilExpired = async (offer: Offer) => {
    const isSeen = async () => {
      const [row] = await asOwner<{ seen: boolean }>(
        store.service,
        `select unapproved_since is not null as seen from mandate_activation
         where merchant_id = $1 and mandate ->> 'payer' = $2 and mandate ->> 'startsAt' = $3`,
        [store.merchant.merchantId, offer.wallet, String(offer.starts_at)],
      );
      return row;
    };
    await store.until(isSeen, { seen: true });
    await moveClock(store, 120);
    await store.until(() => activation(offer), [{ status: 'failed', fault: 'permit_expired' }]);
  };
  /** Why charges of a subscription have failed. */
  const codes = async (id: string) => {
    const rows = await asOwner<{ code: string | null }>(
      store.service,
      `select failure_code as code from transfer where charge ->> 'subscriptionId' = $1 and status = 'failed'`,
      [decodeId('subscription', id)],
    );
    return rows.map(({ code }) => code);
  };

  /** A stranger sends the payer's permit, who knows it from wherever. */
  async function sendOffered({ steps: [step], wallet }: Offer, signature: Hex): Promise<void> {
    const { amount, deadline } = permitOf(step);
    const terms = { owner: wallet as Address, spender: COLLECTOR, value: amount, deadline };
    await sendPermit(store.world, terms, signature);
  }

  test('two merchants hand in permits of one wallet with the same number: one counts for both, and each charges once', async () => {
    // Before clocks are moved: the other merchant's stays as it is.
    const { service, world } = store;
    const merchant = await service.createMerchant({ mode: 'live' });
    await networkCommands(service.app).enable(encodeId('merchant', merchant.merchantId), 'erc20');
    const { id, page, payer } = await ordered();
    const others = billing(service, merchant);
    const items = [item(PRICE, 'month', 'USDC')];
    const other = await others.make({ customer: 'permit-elsewhere', currency: 'USDC', items });
    const otherPage = other.checkout_url ?? '';
    const offers = [await payer.offer(page), await payer.offer(otherPage)] as const;
    expect(offers.map(({ steps }) => permitOf(steps[0]).nonce)).toEqual(['0', '0']);
    const given = await Promise.all(
      offers.map(async (offer, i) =>
        payer.give([page, otherPage][i] ?? '', offer, await payer.sign(offer), await payer.permit(offer)),
      ),
    );
    const taken = { status: 200, json: expect.anything() };
    expect(given).toEqual([taken, taken]);
    await isActive(id);
    await store.until(() => others.read(other.id), { status: 'active' });
    expect(await payer.balance()).toBe(FUNDS - 2n * BigInt(PRICE));
    expect(await payer.allowance(COLLECTOR)).toBe(APPROVED - 2n * BigInt(PRICE));
    const nonce = await world.client.readContract({
      address: world.tokens.USDC,
      abi: TestUSDC.abi,
      functionName: 'nonces',
      args: [payer.address],
    });
    expect(nonce).toBe(1n);
  });

  test('a wallet without ether subscribes by two signatures, and two periods are pulled', async () => {
    const { payer, ...subscription } = await ordered();
    const offer = await payer.subscribe(subscription);
    expect(permitOf(offer.steps[0])).toMatchObject({
      amount: String(APPROVED),
      spender: COLLECTOR,
      nonce: '0',
    });
    await isActive(subscription.id);
    expect(await payer.balance()).toBe(FUNDS - BigInt(PRICE));
    expect(await payer.allowance(COLLECTOR)).toBe(APPROVED - BigInt(PRICE));
    expect(await brought(offer)).toEqual([{ permitted: true, status: 'succeeded' }]);
    await advanceLive(store, 32 * DAY);
    await store.until(
      () =>
        payer
          .balance()
          .then(String)
          .then((left) => ({ left })),
      {
        left: String(FUNDS - 2n * BigInt(PRICE)),
      },
    );
    expect(await store.world.client.getBalance({ address: payer.address })).toBe(0n);
    expect(await store.world.client.getTransactionCount({ address: payer.address })).toBe(0);
  });

  test('a permit that is handed in for a token without any is refused; a node that cannot try one is waited for', async () => {
    const usdt = await calls().make({
      customer: 'permit-none',
      currency: 'USDT',
      items: [item(PRICE, 'month', 'USDT')],
    });
    const other = await PayerWallet.start(store, FUNDS);
    const page = usdt.checkout_url ?? '';
    const terms = await other.offer(page);
    const until = terms.starts_at + 600 + 2 * DAY;
    const step = { ...terms.steps[0], kind: 'permit', nonce: '0', deadline: until, typed_data: '' } as const;
    const signature: Hex = `0x${'11'.repeat(64)}1b`;
    const signed = await other.sign(terms);
    expect(
      await other.give(page, { ...terms, steps: [step, terms.steps[1]] }, signed, signature),
    ).toMatchObject({
      status: 400,
      json: { error: { param: 'permit' } },
    });

    const { id, page: own, payer } = await ordered();
    const offer = await payer.offer(own);
    const [permit, mandate] = [await payer.permit(offer), await payer.sign(offer)];
    store.node.deny = (call) =>
      isPermit(call) ? { code: -32_000, message: 'execution aborted (timeout = 5s)' } : undefined;
    expect(await payer.give(own, offer, mandate, permit)).toMatchObject({ status: 503 });
    store.node.behave();
    expect(await payer.give(own, offer, mandate, permit)).toMatchObject({ status: 200 });
    await isActive(id);
  });

  test('USDT, and a wallet that has approved enough, are asked for no signed approval', async () => {
    const { page, payer } = await ordered();
    await store.world.client.setBalance({ address: payer.address, value: 10n ** 18n });
    await store.world.own('USDC', 'approve', [COLLECTOR, APPROVED], payer.account);
    expect((await payer.offer(page)).steps[0]).toMatchObject({ kind: 'approve', amount: String(APPROVED) });
    await store.world.own('USDC', 'approve', [COLLECTOR, APPROVED - 1n], payer.account);
    expect((await payer.offer(page)).steps[0]).toMatchObject({ kind: 'permit' });
    // A wallet with code signs by a contract of its own.
    await store.world.client.setCode({ address: payer.address, bytecode: '0xef0100'.padEnd(48, '1') as Hex });
    expect((await payer.offer(page)).steps[0]).toMatchObject({ kind: 'approve' });
    const usdt = await calls().make({
      customer: 'permit-usdt',
      currency: 'USDT',
      items: [item(PRICE, 'month', 'USDT')],
    });
    const other = await PayerWallet.start(store, FUNDS);
    expect((await other.offer(usdt.checkout_url ?? '')).steps[0]).toMatchObject({ kind: 'approve' });
  });

  test('a permit for another chain, token, spender, amount, number or end, or by another wallet, is refused', async () => {
    const { id, page, payer } = await ordered();
    const offer = await payer.offer(page);
    const typed: Typed = JSON.parse(permitOf(offer.steps[0]).typed_data);
    const signed = (change: { domain?: object; message?: object }) =>
      payer.account.signTypedData({
        ...typed,
        domain: { ...typed.domain, ...change.domain },
        message: { ...typed.message, ...change.message },
      } as never);
    const stranger = await PayerWallet.start(store, 1n, 'USDC');
    const whole = await payer.permit(offer);
    const mandate = await payer.sign(offer);
    const refused: Record<string, Hex> = {
      chain: await signed({ domain: { chainId: 1 } }),
      token: await signed({ domain: { verifyingContract: store.world.tokens.USDT } }),
      version: await signed({ domain: { version: '1' } }),
      spender: await signed({ message: { spender: freshAddress(3) } }),
      owner: await signed({ message: { owner: stranger.address } }),
      amount: await signed({ message: { value: String(APPROVED - 1n) } }),
      number: await signed({ message: { nonce: '1' } }),
      end: await signed({ message: { deadline: permitOf(offer.steps[0]).deadline - 1 } }),
      'other wallet': await payer.permit(offer, stranger.account),
      mandate,
    };
    const param = async (permit: Hex) => {
      const { status, json } = await payer.give(page, offer, mandate, permit);
      return { status, param: Object(Object(json).error).param };
    };
    for (const [what, permit] of Object.entries(refused))
      expect({ what, ...(await param(permit)) }).toEqual({ what, status: 400, param: 'permit' });
    const s = ORDER - BigInt(`0x${whole.slice(66, 130)}`);
    const twin = `${whole.slice(0, 66)}${s.toString(16)}${whole.slice(130) === '1b' ? '1c' : '1b'}`;
    for (const bad of [whole.slice(0, -2), twin, '0x', 'nonsense', '', `0x${'ab'.repeat(65)}`])
      expect({ bad, ...(await param(bad as Hex)) }).toMatchObject({ status: 400, param: 'permit' });
    // Nothing was kept, and without the approval the terms are not taken either.
    expect(await payer.give(page, offer, mandate)).toMatchObject({
      status: 400,
      json: { error: { param: 'wallet' } },
    });
    expect(await calls().read(id)).toMatchObject({ status: 'incomplete' });
    expect(await brought(offer)).toEqual([]);
    expect(await payer.give(page, offer, mandate, whole)).toMatchObject({ status: 200 });
    expect(await payer.give(page, offer, mandate, whole)).toMatchObject({ status: 200 });
    await isActive(id);
  });

  test('fault 90: a permit that a stranger has sent first counts: before it is handed in, and on its way', async () => {
    const early = await ordered();
    const offer = await early.payer.offer(early.page);
    const permit = await early.payer.permit(offer);
    await sendOffered(offer, permit);
    await store.world.mine(store.world.finalBlocks + 1);
    const mandate = await early.payer.sign(offer);
    expect(await early.payer.give(early.page, offer, mandate, permit)).toMatchObject({ status: 200 });
    await isActive(early.id);
    expect(await brought(offer)).toEqual([{ permitted: false, status: 'succeeded' }]);

    let held = 0;
    store.node.refuse = (call) => {
      if (!isActivation(call)) return undefined;
      held += 1;
      return 'cut';
    };
    const late = await ordered();
    const terms = await late.payer.offer(late.page);
    const signed = await late.payer.permit(terms);
    const given = await late.payer.give(late.page, terms, await late.payer.sign(terms), signed);
    expect(given).toMatchObject({ status: 200 });
    while (held === 0) {
      await store.world.mine(1);
      await sleep(100);
    }
    await sendOffered(terms, signed);
    store.node.behave();
    await isActive(late.id);
    expect(await brought(terms)).toEqual([{ permitted: true, status: 'succeeded' }]);
    expect(await late.payer.balance()).toBe(FUNDS - BigInt(PRICE));
    expect(await late.payer.allowance(COLLECTOR)).toBe(APPROVED - BigInt(PRICE));
  });

  test('fault 90: a stranger brings the mandate alone while its permit is on its way: the payer is asked anew', async () => {
    let held = 0;
    store.node.refuse = (call) => {
      if (!isActivation(call)) return undefined;
      held += 1;
      return 'cut';
    };
    const { id, page, payer } = await ordered();
    const offer = await payer.offer(page);
    const [permit, mandate] = [await payer.permit(offer), await payer.sign(offer)];
    expect(await payer.give(page, offer, mandate, permit)).toMatchObject({ status: 200 });
    while (held === 0) {
      await store.world.mine(1);
      await sleep(100);
    }
    const { message }: Typed = JSON.parse(offer.steps[1].typed_data);
    const hash = store.world.client.writeContract({
      ...by(OWNER, 300_000n),
      address: COLLECTOR,
      abi: ABI,
      functionName: 'activate',
      args: [message, mandate],
    });
    await hash;
    await store.world.mine(1);
    expect((await mined(store.world.client, hash)).status).toBe('success');
    // Handed in once more, the terms are not taken: nothing of ours would send their permit.
    store.node.behave();
    const again = () => payer.give(page, offer, mandate, permit);
    // An endpoint that was cut off is asked again after a while.
    await vi.waitFor(
      async () =>
        expect(await again()).toMatchObject({ status: 400, json: { error: { param: 'starts_at' } } }),
      WITHIN,
    );
    await store.until(() => brought(offer), [{ permitted: true, status: 'failed' }]);
    await untilExpired(offer);
    expect(await payer.allowance(COLLECTOR)).toBe(0n);
    expect(await payer.balance()).toBe(FUNDS);
    // No charge was tried in vain, and the customer is not told that the wallet lacks an approval.
    expect(await codes(id)).not.toContain('insufficient_allowance');
    expect(await calls().read(id)).toMatchObject({ status: 'incomplete' });
    await payer.subscribe({ checkout_url: page });
    await isActive(id);
    expect(await payer.allowance(COLLECTOR)).toBe(APPROVED - BigInt(PRICE));
  });

  test('a permit that another one overtook, or that waited beyond its end, is asked for anew', async () => {
    const { client } = store.world;
    const { id, page, payer } = await ordered();
    const offer = await payer.offer(page);
    const [permit, mandate] = [await payer.permit(offer), await payer.sign(offer)];
    const typed: Typed = JSON.parse(permitOf(offer.steps[0]).typed_data);
    const other = { ...typed, message: { ...typed.message, value: '1' } };
    const small = { ...permitOf(offer.steps[0]), amount: '1' };
    const taken = await payer.account.signTypedData(other as never);
    await sendOffered({ ...offer, steps: [small, offer.steps[1]] }, taken);
    expect(await payer.give(page, offer, mandate, permit)).toMatchObject({
      status: 400,
      json: { error: { param: 'permit_nonce' } },
    });
    const next = await payer.offer(page);
    expect(permitOf(next.steps[0])).toMatchObject({ nonce: '1' });
    expect(await payer.give(page, next, await payer.sign(next), await payer.permit(next))).toMatchObject({
      status: 200,
    });
    await isActive(id);

    const waiting = await ordered({ trial_period_days: 30 });
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('500') });
    await store.world.mine(1);
    const terms = await waiting.payer.subscribe(waiting);
    await moveClock(store, 3 * DAY);
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('1') });
    await store.world.mine(1);
    await untilExpired(terms);
    expect(await brought(terms)).toEqual([]);
    expect(await waiting.payer.allowance(COLLECTOR)).toBe(0n);
    // A method that came to nothing is revoked, and the page takes another one.
    await waiting.payer.subscribe(waiting);
    await store.until(() => brought(terms), [{ permitted: true, status: 'succeeded' }]);
    expect(await waiting.payer.allowance(COLLECTOR)).toBe(APPROVED);
  });
});

function isActivation({ method, params: [raw] }: Call): boolean {
  if (method !== 'eth_sendRawTransaction') return false;
  const { data = '0x' } = parseTransaction(raw as Hex);
  return data.startsWith(ACTIVATE_WITH_PERMIT);
}

/** The permit of the token, tried as a call. */
function isPermit({ method, params: [call] }: Call): boolean {
  return method === 'eth_call' && String(Object(call).data ?? Object(call).input).startsWith(PERMIT);
}
