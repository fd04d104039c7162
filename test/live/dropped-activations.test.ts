import { type Abi, type Hex, parseGwei, parseTransaction, toFunctionSelector } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Collector } from '../../contracts/artifacts/index.ts';
import type { Call } from '../chains/evm/faulty-node.ts';
import { TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { moveClock } from '../journeys/subscription-worlds.ts';
import { asOwner } from '../ledger.ts';
import { billing, HOUR, item } from '../subscriptions/billing.ts';
import { LiveStore, WITHIN } from './live-store.ts';
import { PayerWallet } from './payer-wallet.ts';

const ACTIVATE = toFunctionSelector(
  (Collector.abi as Abi).find((one) => one.type === 'function' && one.name === 'activate') as never,
);
const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);

describe.skipIf(!hasAnvil())('mandates that are not needed any more before they are on the chain', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true });
    // The merchant's account is opened, so that an activation comes first from now on.
    const first = await ordered();
    await first.payer.subscribe(first);
    await store.until(() => calls().read(first.id), { status: 'active' });
  }, 180_000);
  afterEach(async () => {
    store.node.behave();
    await fees(1);
    await store.expectSettled();
  }, 90_000);
  afterAll(() => store?.stop());

  const calls = () => billing(store.service, store.merchant);
  let customers = 0;
  async function ordered() {
    customers += 1;
    const items = [item(PRICE, 'month', 'USDT')];
    const made = await calls().make({ customer: `dropped-${customers}`, currency: 'USDT', items });
    return { ...made, payer: await PayerWallet.start(store, FUNDS) };
  }
  /** Above the ceiling nothing is sent. Each empty block lowers them again. */
  async function fees(gwei: number): Promise<void> {
    await store.world.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(String(gwei)) });
    await store.world.mine(1);
  }
  /** The first charge waits for its mandate. No block comes meanwhile. */
  const untilQueued = (id: string) =>
    vi.waitFor(
      async () => expect(await calls().latest(id)).toMatchObject({ payment_status: 'processing' }),
      WITHIN,
    );
  const activations = ({ address }: PayerWallet) =>
    asOwner<{ status: string }>(
      store.service,
      `select status from transfer_attempt
       where movement ->> 'kind' = 'activate' and movement -> 'mandate' ->> 'payer' = $1`,
      [address],
    );
  const charges = ({ address }: PayerWallet) =>
    asOwner<{ status: string; code: string | null }>(
      store.service,
      `select status, failure_code as code from transfer where address = $1 and charge is not null
       order by transfer_id`,
      [address],
    );
  const method = async ({ address }: PayerWallet) =>
    (
      await asOwner<{ status: string; is_on_chain: boolean }>(
        store.service,
        `select status, activated_at is not null as is_on_chain from payment_method where wallet_address = $1`,
        [address],
      )
    )[0];
  const eventsSince = async (told: number) => (await calls().eventTypes()).slice(told);
  const WITHDRAWN = [{ status: 'failed', code: 'network_unavailable' }];

  test('canceled before its mandate was sent: at once, and nothing of it is sent afterwards', async () => {
    const { payer, ...subscription } = await ordered();
    await fees(500);
    await payer.subscribe(subscription);
    await fees(500);
    await untilQueued(subscription.id);
    const told = (await calls().eventTypes()).length;
    expect(await calls().cancel(subscription.id)).toMatchObject({ status: 'canceled' });
    expect(await calls().latest(subscription.id)).toMatchObject({
      status: 'void',
      payment_status: 'canceled',
    });
    expect(await eventsSince(told)).toEqual(['payment.failed', 'payment.cancelled', 'subscription.canceled']);
    expect(await charges(payer)).toEqual(WITHDRAWN);
    expect(await method(payer)).toEqual({ status: 'revoked', is_on_chain: false });
    await fees(1);
    // Another one that comes later is sent and charged.
    const next = await ordered();
    await next.payer.subscribe(next);
    await store.until(() => calls().read(next.id), { status: 'active' });
    expect(await activations(payer)).toEqual([]);
    expect(await payer.balance()).toBe(FUNDS);
    expect(await charges(payer)).toEqual(WITHDRAWN);
  });

  test('another wallet before it was sent: that one alone is brought to the chain, and charged once', async () => {
    const { payer, ...subscription } = await ordered();
    await fees(500);
    await payer.subscribe(subscription);
    await fees(500);
    await untilQueued(subscription.id);
    const told = (await calls().eventTypes()).length;
    const other = await PayerWallet.start(store, FUNDS);
    await other.subscribe(subscription);
    expect(await method(payer)).toEqual({ status: 'revoked', is_on_chain: false });
    await fees(1);
    await store.until(() => calls().read(subscription.id), { status: 'active' });
    expect(await activations(payer)).toEqual([]);
    expect(await charges(payer)).toEqual(WITHDRAWN);
    expect(await charges(other)).toEqual([{ status: 'succeeded', code: null }]);
    expect(await payer.balance()).toBe(FUNDS);
    expect(await other.balance()).toBe(FUNDS - BigInt(PRICE));
    // Nobody is dunned for the change.
    expect(await eventsSince(told)).toEqual([
      'payment.failed',
      'payment.completed',
      'invoice.paid',
      'subscription.active',
    ]);
  });

  test('canceled while its mandate is on its way: the cancel waits for nothing, and nothing is charged', async () => {
    const { payer, ...subscription } = await ordered();
    store.node.refuse = (call) => (isActivation(call) ? 'cut' : undefined);
    await payer.subscribe(subscription);
    const isSigned = async () => (await activations(payer)).map(({ status }) => status !== 'reserved');
    await store.until(isSigned, [true]);
    await untilQueued(subscription.id);
    expect(await calls().cancel(subscription.id)).toMatchObject({ status: 'canceled' });
    expect(await charges(payer)).toEqual(WITHDRAWN);
    store.node.behave();
    await store.until(() => method(payer), { status: 'active', is_on_chain: true });
    expect(await activations(payer)).toEqual([{ status: 'succeeded' }]);
    expect(await charges(payer)).toEqual(WITHDRAWN);
    expect(await payer.balance()).toBe(FUNDS);
  });

  test('a planned end comes on time, whatever its mandate waits for', async () => {
    const { payer, ...subscription } = await ordered();
    await fees(500);
    await payer.subscribe(subscription);
    await fees(500);
    await untilQueued(subscription.id);
    await calls().cancel(subscription.id, { cancel_at: Math.floor(Date.now() / 1000) + 2 * HOUR });
    expect(await charges(payer)).toEqual([{ status: 'queued', code: null }]);
    await store.world.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('500') });
    await moveClock(store, 3 * HOUR);
    await vi.waitFor(
      async () => expect(await calls().read(subscription.id)).toMatchObject({ status: 'canceled' }),
      WITHIN,
    );
    expect(await charges(payer)).toEqual(WITHDRAWN);
    expect(await method(payer)).toEqual({ status: 'revoked', is_on_chain: false });
    expect(await activations(payer)).toEqual([]);
  });
});

function isActivation({ method, params: [raw] }: Call): boolean {
  return (
    method === 'eth_sendRawTransaction' && (parseTransaction(raw as Hex).data ?? '').startsWith(ACTIVATE)
  );
}
