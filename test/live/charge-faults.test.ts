import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscription } from '@florin/contract/schemas';
import {
  type Abi,
  type Address,
  getAbiItem,
  type Hex,
  parseEther,
  parseEventLogs,
  parseTransaction,
  toFunctionSelector,
} from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Collector } from '../../contracts/artifacts/index.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { collectorDeployment } from '../../packages/signer/src/contracts.ts';
import { by, mined, OWNER } from '../../scripts/local-chain.ts';
import type { Call } from '../chains/evm/faulty-node.ts';
import { TOKEN } from '../checkout/requests.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { LiveStore, WITHIN } from './live-store.ts';
import { PayerWallet } from './payer-wallet.ts';

const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);
const COLLECTOR: Address = `0x${collectorDeployment().address.slice(2)}`;
const ABI: Abi = Collector.abi;
/** Longer than a transaction may be in no block before it is replaced. */
const STUCK_SECONDS = 200;
const CHARGE = toFunctionSelector(getAbiItem({ abi: Collector.abi, name: 'charge' }));
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

type Offer = Awaited<ReturnType<PayerWallet['offer']>>;
interface Typed {
  domain: { chainId: number; verifyingContract: Address };
  message: Record<string, unknown>;
}

describe.skipIf(!hasAnvil())('charges of wallets while payers, strangers and the chain interfere', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true });
    // The merchant's account is there, so that what follows is about mandates.
    const { subscription } = await subscribed();
    await store.until(() => calls().read(subscription.id), { status: 'active' });
  }, 240_000);
  afterEach(async () => {
    store.node.behave();
    await store.expectSettled();
  }, 90_000);
  afterAll(() => store?.stop());

  const calls = () => billing(store.service, store.merchant);
  let customers = 0;
  const order = () => {
    customers += 1;
    const items = [item(PRICE, 'month', 'USDT')];
    return calls().make({ customer: `customer-${customers}`, currency: 'USDT', items });
  };
  async function subscribed() {
    const subscription = await order();
    const payer = await PayerWallet.start(store, FUNDS);
    const offer = await payer.subscribe(subscription);
    return { subscription, payer, offer };
  }
  const typedOf = ({ steps }: Offer): Typed => JSON.parse(steps[1].typed_data);

  async function send(
    sender: PayerWallet | typeof OWNER,
    functionName: string,
    args: readonly unknown[],
  ): Promise<void> {
    const account = sender instanceof PayerWallet ? sender.account : sender;
    const { client } = store.world;
    const hash = client.writeContract({
      ...by(account, 300_000n),
      address: COLLECTOR,
      abi: ABI,
      functionName,
      args,
    });
    await hash;
    await store.world.mine(1);
    expect((await mined(client, hash)).status).toBe('success');
  }

  const charges = ({ id }: Subscription) =>
    asOwner<{ status: string; code: string | null; versions: number }>(
      store.service,
      `select t.status, t.failure_code as code, coalesce(a.versions, 0)::int as versions
       from transfer t join payment p on p.merchant_id = t.merchant_id and p.payment_id::text = t.owner_id::text
         join invoice i on i.merchant_id = p.merchant_id and i.invoice_id = p.invoice_id
         left join transfer_attempt a on a.merchant_id = t.merchant_id and a.group_id = t.group_id
           and a.movement is null
       where i.subscription_id = $1 order by t.transfer_id`,
      [decodeId('subscription', id)],
    );

  type Interference = (own: { payer: PayerWallet; offer: Offer }) => Promise<unknown>;
  const interferences: [name: string, interfere: Interference, code: string][] = [
    [
      'the payer revokes the mandate',
      ({ payer, offer }) => send(payer, 'revoke', [typedOf(offer).message]),
      'mandate_revoked',
    ],
    [
      'the payer takes the approval back',
      ({ payer }) => payer.approve(COLLECTOR, 0n),
      'insufficient_allowance',
    ],
    [
      'the payer empties the wallet',
      ({ payer }) => store.world.transfer('USDT', payer.account, freshAddress(7), FUNDS),
      'insufficient_balance',
    ],
  ];
  test.each(interferences)(
    'fault 89: %s after the charge was tried and before its block',
    async (_, interfere, code) => {
      let held = 0;
      store.node.refuse = (call) => {
        if (!isCharge(call)) return undefined;
        held += 1;
        return 'cut';
      };
      const { world } = store;
      const own = await subscribed();
      const { subscription, payer } = own;
      while (held === 0) {
        await store.world.mine(1);
        await sleep(100);
      }
      await interfere(own);
      const left = await store.world.balance('USDT', payer.address);
      store.node.behave();
      await store.until(() => charges(subscription), [{ status: 'failed', code, versions: 1 }]);
      expect(await store.world.balance('USDT', payer.address)).toBe(left);
      // It is not tried again by itself: the customer is asked.
      await world.mine(world.finalBlocks + 1);
      expect(await charges(subscription)).toHaveLength(1);
      expect(await calls().latest(subscription.id)).toMatchObject({ status: 'open' });
      expect(await calls().read(subscription.id)).toMatchObject({ status: 'incomplete' });
    },
  );

  test('fault 90: a stranger brings the mandate to the chain first: it is taken as done, and charged', async () => {
    const subscription = await order();
    const payer = await PayerWallet.start(store, FUNDS);
    const page = subscription.checkout_url ?? '';
    const offer = await payer.offer(page);
    await payer.approve(COLLECTOR, BigInt(offer.steps[0].amount));
    const signature = await payer.sign(offer);
    await send(OWNER, 'activate', [typedOf(offer).message, signature]);
    expect(await payer.give(page, offer, signature)).toMatchObject({ status: 200 });
    // Handed in again, as a page in a second tab does.
    expect(await payer.give(page, offer, signature)).toMatchObject({ status: 200 });
    await store.until(() => calls().read(subscription.id), { status: 'active' });
    expect(await store.world.balance('USDT', payer.address)).toBe(FUNDS - BigInt(PRICE));
    // Once another wallet pays, whoever has seen the signature on the chain cannot bring this one back by it.
    const other = await PayerWallet.start(store, FUNDS);
    await other.subscribe(subscription);
    expect(await payer.give(page, offer, signature)).toMatchObject({
      status: 400,
      json: { error: { param: 'starts_at' } },
    });
  });

  test('fault 90: what was signed for another chain, contract, account, token, cap or by another wallet is refused', async () => {
    const subscription = await order();
    const payer = await PayerWallet.start(store, FUNDS);
    const other = await PayerWallet.start(store, FUNDS);
    const page = subscription.checkout_url ?? '';
    const offer = await payer.offer(page);
    await payer.approve(COLLECTOR, BigInt(offer.steps[0].amount));
    const typed = typedOf(offer);
    const signed = (change: { domain?: object; message?: object }) => {
      const changed = {
        ...typed,
        domain: { ...typed.domain, ...change.domain },
        message: { ...typed.message, ...change.message },
      };
      return payer.account.signTypedData(changed as never);
    };
    const whole = await payer.sign(offer);
    const refused: Record<string, Hex> = {
      chain: await signed({ domain: { chainId: 1 } }),
      contract: await signed({ domain: { verifyingContract: freshAddress(1) } }),
      account: await signed({ message: { account: `0x${'1'.repeat(64)}` } }),
      token: await signed({ message: { token: store.world.tokens.USDC } }),
      cap: await signed({ message: { cap: '1' } }),
      subscriptions: await signed({ message: { subscriptions: 1_000 } }),
      'other wallet': await payer.sign(offer, other.account),
      shortened: `0x${whole.slice(2, -2)}`,
      'other form': otherForm(whole),
      'a contract wallet’s': `0x${'ab'.repeat(2_000)}`,
      nothing: '0x',
    };
    for (const [what, signature] of Object.entries(refused)) {
      const { status, json } = await payer.give(page, offer, signature);
      expect({ what, status, param: (json as { error?: { param?: string } }).error?.param }).toEqual({
        what,
        status: 400,
        param: 'signature',
      });
    }
    expect(await calls().read(subscription.id)).toMatchObject({ status: 'incomplete' });
    expect(await payer.give(page, offer, whole)).toMatchObject({ status: 200 });
    await store.until(() => calls().read(subscription.id), { status: 'active' });
  });

  test('J4: a charge whose fee has become too low is replaced, and takes its coins once', async () => {
    const { world } = store;
    await world.client.setBalance({ address: store.hot, value: parseEther('0.2') });
    let held = 0;
    store.node.refuse = (call) => {
      if (!isCharge(call)) return undefined;
      held += 1;
      return 'cut';
    };
    const { subscription, payer } = await subscribed();
    while (held === 0) {
      await world.mine(1);
      await sleep(100);
    }
    store.node.behave();
    // Without a block it stays in the mempool.
    const waiting = async () => {
      const { transactions } = await world.client.getBlock({
        blockTag: 'pending',
        includeTransactions: true,
      });
      return transactions.filter(({ input }) => input.startsWith(CHARGE));
    };
    await expect.poll(waiting, WITHIN).toHaveLength(1);
    const [pending] = await waiting();
    const baseFeePerGas = ((pending?.maxFeePerGas ?? 0n) * 3n) / 2n;
    await world.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
    await world.mine(1);
    expect(await charges(subscription)).toMatchObject([{ versions: 1 }]);
    await asOwner(
      store.service,
      `update transfer_attempt set sent_at = sent_at - ${STUCK_SECONDS} where status = 'sent'`,
    );
    await expect.poll(() => charges(subscription), WITHIN).toMatchObject([{ versions: 2 }]);
    await store.until(() => calls().read(subscription.id), { status: 'active' });
    expect(await charges(subscription)).toEqual([{ status: 'succeeded', code: null, versions: 2 }]);
    const logs = await world.client.getLogs({ fromBlock: 0n, address: COLLECTOR });
    const charged = parseEventLogs({ abi: Collector.abi, logs, eventName: 'Charged' });
    const sent = await Promise.all(
      charged.map(({ transactionHash: hash }) => world.client.getTransaction({ hash })),
    );
    expect(sent.filter(({ nonce }) => nonce === pending?.nonce)).toHaveLength(1);
    expect(await payer.balance()).toBe(FUNDS - BigInt(PRICE));
  });

  test('fault 92: fees above the ceiling: charges wait, nobody is dunned for it, and each is charged once afterwards', async () => {
    const { world } = store;
    const all = await Promise.all(Array.from({ length: 5 }, async () => await order()));
    const approved: { subscription: (typeof all)[number]; payer: PayerWallet; offer: Offer }[] = [];
    for (const subscription of all) {
      const payer = await PayerWallet.start(store, FUNDS);
      approved.push({ subscription, payer, offer: await payer.approveFor(subscription) });
    }
    const baseFeePerGas = world.network().feeCeilings.maxFeePerGas * 2n;
    const mineDear = async () => {
      await world.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
      await world.mine(1);
    };
    // Handed in once fees are high: on a slow machine the first one would be charged before the last has approved.
    await mineDear();
    for (const { subscription, payer, offer } of approved) await payer.handIn(subscription, offer);
    for (let blocks = 0; blocks < 20; blocks++) {
      await mineDear();
      await sleep(200);
    }
    for (const subscription of all) {
      expect(await calls().read(subscription.id)).toMatchObject({ status: 'incomplete' });
      expect((await charges(subscription)).filter(({ status }) => status === 'failed')).toEqual([]);
    }
    await world.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_000_000_000n });
    for (const { subscription, payer } of approved) {
      await store.until(() => calls().read(subscription.id), { status: 'active' });
      expect(await world.balance('USDT', payer.address)).toBe(FUNDS - BigInt(PRICE));
      expect(await charges(subscription)).toMatchObject([{ status: 'succeeded' }]);
    }
  });
});

function isCharge({ method, params: [raw] }: Call): boolean {
  if (method !== 'eth_sendRawTransaction') return false;
  const { data = '0x' } = parseTransaction(raw as Hex);
  return data.startsWith(CHARGE);
}

/** Of the two signatures that a key can make of its number, the one with the higher s. */
function otherForm(signature: Hex): Hex {
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  expect(s).toBeLessThanOrEqual(HALF_ORDER);
  const v = signature.slice(130) === '1b' ? '1c' : '1b';
  return `0x${signature.slice(2, 66)}${(ORDER - s).toString(16).padStart(64, '0')}${v}`;
}
