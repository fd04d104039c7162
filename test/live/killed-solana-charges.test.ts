import { afterAll, beforeAll, expect, test } from 'vitest';
import { TOKEN } from '../checkout/requests.ts';
import type { NodeUnderTest } from '../faults/node-under-test.ts';
import { WORKER_POINTS } from '../faults/seeded-plan.ts';
import { asOwner } from '../ledger.ts';
import { FULL } from '../scale.ts';
import { billing, item } from '../subscriptions/billing.ts';
import { dieAt, KILLED, openWorker } from './killing.ts';
import { subscribe } from './solana-payer.ts';
import { SolanaStore } from './solana-store.ts';

const LONG = { timeout: 600_000 };
const PRICE = 3 * TOKEN;
const FUNDS = 100n * BigInt(TOKEN);
const ACTIVATION_POINTS = ['activate.before-commit', 'activate.after-commit', 'activate.ended'];
/** Where a charge may be signed or on the chain and not in the database. Every point in a full run. */
const CHAIN_POINTS = /^(?:build|store|broadcast|decide)\.after/;
const POINTS = [
  ...ACTIVATION_POINTS,
  ...WORKER_POINTS.filter((point) => !/^(?:process|settle)\./.test(point)),
].filter((point) => FULL || CHAIN_POINTS.test(point) || point === 'activate.ended');

let store: SolanaStore;
let worker: NodeUnderTest;
const subscribed: { id: string; wallet: string }[] = [];

beforeAll(async () => {
  store = await SolanaStore.start(false);
  worker = await openWorker(store);
}, 120_000);
afterAll(async () => {
  await worker?.close();
  await store?.stop();
});

const calls = () => billing(store.service, store.merchant);

/** Another wallet gives a mandate, of which the first period is charged. */
async function give(): Promise<void> {
  const wallet = store.local.wallet(`subscriber ${subscribed.length}`);
  await store.local.hold({ owner: wallet, asset: 'USDC' }, FUNDS);
  const customer = `customer-${subscribed.length}`;
  const items = [item(PRICE, 'month', 'USDC')];
  const ordered = await calls().make({ customer, currency: 'USDC', items });
  await subscribe(store, ordered, wallet);
  subscribed.push({ id: ordered.id, wallet });
}

test.each(POINTS)('fault 88: the worker that charges a wallet on Solana dies at %s', LONG, async (point) => {
  const killing = { give, mine: () => store.local.mine(1) };
  expect(await dieAt([{ worker, point }], killing)).toEqual([KILLED]);
});

test('fault 88: afterwards each wallet was charged once, and the books agree', LONG, async () => {
  await worker.start();
  for (const { id } of subscribed) await store.until(() => calls().read(id), { status: 'active' });
  const chain = store.service.app.chains.of({ ...store.merchant, mode: 'live' }, 'spl');
  const owners = subscribed.map(({ wallet }) => wallet);
  const { balances } = await chain.balances(owners, 'USDC', 'tip');
  expect(owners.map((owner) => balances.get(owner))).toEqual(owners.map(() => FUNDS - BigInt(PRICE)));
  const twice = await asOwner(
    store.service,
    `select item::text from transfer_attempt cross join unnest(item_ids) as item
     where status = 'succeeded' group by item having count(*) > 1`,
  );
  expect(twice).toEqual([]);
  await store.expectBooksAgree();
  expect(worker.surprises).toEqual([]);
});
