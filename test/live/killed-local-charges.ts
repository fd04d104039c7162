import type { Subscription } from '@florin/contract/schemas';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TOKEN } from '../checkout/requests.ts';
import type { NodeUnderTest } from '../faults/node-under-test.ts';
import { WORKER_POINTS } from '../faults/seeded-plan.ts';
import { asOwner } from '../ledger.ts';
import { FULL } from '../scale.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { dieAt, KILLED, openWorker } from './killing.ts';
import type { LocalNetwork, LocalStore } from './local-store.ts';

const LONG = { timeout: 600_000 };
const PRICE = 3 * TOKEN;
/** What each payer has in the smallest unit of the store's asset. */
export const FUNDS = 100n * BigInt(TOKEN);
const ACTIVATION_POINTS = ['activate.before-commit', 'activate.after-commit', 'activate.ended'];
/** Where a charge may be signed or on the chain and not in the database. */
const CHAIN_POINTS = /^(?:build|store|broadcast|decide)\.after/;
const SENDING_POINTS = WORKER_POINTS.filter((point) => !/^(?:process|settle)\./.test(point));

/** The points at which a worker dies; in a full run every one of sending, too. */
export const CHARGE_POINTS = {
  activation: ACTIVATION_POINTS,
  sending: SENDING_POINTS.filter((point) => FULL || CHAIN_POINTS.test(point)),
};

interface KilledCharges<Store extends LocalStore<LocalNetwork>> {
  start: () => Promise<Store>;
  points: readonly string[];
  /** Another payer has `FUNDS`, and gives the mandate that was ordered. @returns the payer's address */
  subscribe: (store: Store, ordered: Subscription, name: string) => Promise<string>;
  /** Makes a block while the worker dies. */
  mine: (store: Store) => void | Promise<void>;
  /** What else holds afterwards, with so many payers. */
  expectAlso?: (store: Store, payers: number) => Promise<void>;
}

/** Tests: a worker that is killed while mandates are activated and their first periods are charged. */
export function killWhileCharging<Store extends LocalStore<LocalNetwork>>({
  start,
  points,
  subscribe,
  mine,
  expectAlso,
}: KilledCharges<Store>): void {
  let store: Store;
  let worker: NodeUnderTest;
  const subscribed: { id: string; payer: string }[] = [];

  beforeAll(async () => {
    store = await start();
    worker = await openWorker(store);
  }, 120_000);
  afterAll(async () => {
    await worker?.close();
    await store?.stop();
  });

  const calls = () => billing(store.service, store.merchant);

  async function give(): Promise<void> {
    const { asset } = store;
    const customer = `customer-${subscribed.length}`;
    const ordered = await calls().make({ customer, currency: asset, items: [item(PRICE, 'month', asset)] });
    subscribed.push({ id: ordered.id, payer: await subscribe(store, ordered, customer) });
  }

  test.each(points)('fault 88: the worker that charges a wallet dies at %s', LONG, async (point) => {
    expect(await dieAt([{ worker, point }], { give, mine: () => mine(store) })).toEqual([KILLED]);
  });

  test('fault 88: afterwards each wallet was charged once, and the books agree', LONG, async () => {
    await worker.start();
    for (const { id } of subscribed) await store.until(() => calls().read(id), { status: 'active' });
    const payers = subscribed.map(({ payer }) => payer);
    const { balances } = await store.chain.balances(payers, store.asset, 'tip');
    expect(payers.map((payer) => balances.get(payer))).toEqual(payers.map(() => FUNDS - BigInt(PRICE)));
    const twice = await asOwner(
      store.service,
      `select item::text from transfer_attempt cross join unnest(item_ids) as item
       where status = 'succeeded' group by item having count(*) > 1`,
    );
    expect(twice).toEqual([]);
    await expectAlso?.(store, payers.length);
    await store.expectBooksAgree();
    expect(worker.surprises).toEqual([]);
  });
}
