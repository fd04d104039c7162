import { setTimeout as sleep } from 'node:timers/promises';
import { parseAbi, parseEventLogs } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectorDeployment } from '../../packages/signer/src/contracts.ts';
import { TOKEN } from '../checkout/requests.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import type { NodeUnderTest } from '../faults/node-under-test.ts';
import { WORKER_POINTS } from '../faults/seeded-plan.ts';
import { asOwner } from '../ledger.ts';
import { FULL, share } from '../scale.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { dieAt, KILLED, openWorker } from './killing.ts';
import { LiveStore } from './live-store.ts';
import { PayerWallet } from './payer-wallet.ts';

const LONG = { timeout: 600_000 };
const PRICE = 20 * TOKEN;
const FUNDS = 1_000n * BigInt(TOKEN);
const ACTIVATION_POINTS = ['before', 'before-commit', 'after-commit', 'ended'].map(
  (point) => `activate.${point}`,
);
/** Where a transaction may be on the chain and not in the database. Every point in a full run. */
const CHAIN_POINTS = /^(store|broadcast|decide)\./;
const SENDING_POINTS = WORKER_POINTS.filter((point) => !/^(process|settle)\./.test(point));
const POINTS = share(
  [...ACTIVATION_POINTS, ...SENDING_POINTS.filter((point) => FULL || CHAIN_POINTS.test(point))],
  1,
  2,
);

const EVENTS = parseAbi([
  'event Charged(bytes32 indexed account, bytes32 indexed id, bytes32 indexed mandate, uint256 amount)',
]);

describe.skipIf(!hasAnvil())('a worker that is killed while it charges wallets on a real node', () => {
  let store: LiveStore;
  let worker: NodeUnderTest;
  const subscribed: { id: string; payer: PayerWallet }[] = [];

  beforeAll(async () => {
    store = await LiveStore.start(undefined, { collector: true, worker: false });
    worker = await openWorker(store);
  }, 240_000);
  afterAll(async () => {
    await worker?.close();
    await store?.stop();
  });

  const calls = () => billing(store.service, store.merchant);

  /** A customer signs a mandate, of which the first period is charged. */
  async function subscribe(): Promise<void> {
    const subscription = await calls().make({
      customer: `customer-${subscribed.length}`,
      currency: 'USDT',
      items: [item(PRICE, 'month', 'USDT')],
    });
    const payer = await PayerWallet.start(store, FUNDS);
    await payer.subscribe(subscription);
    subscribed.push({ id: subscription.id, payer });
  }

  /** The charges on the chain, by what each took. */
  async function chargesOnChain() {
    const address = `0x${collectorDeployment().address.slice(2)}` as const;
    const logs = await store.world.client.getLogs({ fromBlock: 0n, address });
    return parseEventLogs({ abi: EVENTS, logs }).map(({ args }) => args);
  }

  async function untilDead(): Promise<void> {
    while (worker.isUp) {
      await store.world.mine(1);
      await sleep(100);
    }
  }

  /** The transactions that were to bring a payer's mandate to the chain. */
  const attemptsOf = ({ address }: PayerWallet) =>
    asOwner(
      store.service,
      `select status, tx_id is not null as is_sent from transfer_attempt
       where movement ->> 'kind' = 'activate' and movement -> 'mandate' ->> 'payer' = $1`,
      [address],
    );

  test.each(POINTS)('fault 88: the worker dies at %s', LONG, async (point) => {
    const killing = { give: subscribe, mine: () => store.world.mine(1) };
    expect(await dieAt([{ worker, point }], killing)).toEqual([KILLED]);
  });

  test('fault 88: afterwards each mandate was activated once and charged once', LONG, async () => {
    await worker.start();
    for (const { id, payer } of subscribed) {
      await store.until(() => calls().read(id), { status: 'active' });
      expect(await store.world.balance('USDT', payer.address)).toBe(FUNDS - BigInt(PRICE));
    }
    const charges = await chargesOnChain();
    expect(charges.map(({ amount }) => amount)).toEqual(subscribed.map(() => BigInt(PRICE)));
    for (const of of ['id', 'mandate'] as const)
      expect(new Set(charges.map((charge) => charge[of])).size).toBe(subscribed.length);
    const activated = await asOwner(
      store.service,
      `select movement ->> 'kind' as kind, count(*)::int from transfer_attempt
       where merchant_id = $1 and status = 'succeeded' and movement ->> 'kind' in ('account', 'activate')
       group by 1 order by 1`,
      [store.merchant.merchantId],
    );
    expect(activated).toEqual([
      { kind: 'account', count: 1 },
      { kind: 'activate', count: subscribed.length },
    ]);
    await store.expectSettled();
    expect(worker.surprises).toEqual([]);
  });

  test('fault 88: a mandate that is canceled while its worker is dead is never sent', LONG, async () => {
    await worker.kill();
    await subscribe();
    const [canceled] = subscribed.splice(-1);
    if (canceled === undefined) throw new Error('a subscription is made');
    // Ether for it may come first.
    while ((await attemptsOf(canceled.payer)).length === 0) {
      await worker.start({ crashPoint: 'activate.after-commit' });
      await untilDead();
    }
    expect(await attemptsOf(canceled.payer)).toEqual([{ status: 'reserved', is_sent: false }]);
    expect(await calls().cancel(canceled.id)).toMatchObject({ status: 'canceled' });
    expect(await attemptsOf(canceled.payer)).toEqual([{ status: 'failed', is_sent: false }]);
    await worker.start();
    // The sequence that was given up holds up nobody.
    await subscribe();
    const [next] = subscribed.slice(-1);
    await store.until(() => calls().read(next?.id ?? ''), { status: 'active' });
    expect(await attemptsOf(canceled.payer)).toEqual([{ status: 'failed', is_sent: false }]);
    expect(await canceled.payer.balance()).toBe(FUNDS);
    expect(await calls().read(canceled.id)).toMatchObject({ status: 'canceled' });
    await store.expectSettled();
  });
});
