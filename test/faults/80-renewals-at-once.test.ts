import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openChains } from '../../packages/server/src/chains/index.ts';
import { connect } from '../../packages/server/src/platform/db/db.ts';
import { FULL, scaled } from '../scale.ts';
import { WRITE_SERVER_SETTINGS } from '../server-settings.ts';
import { addSubscribers, beginBilling } from '../subscriptions/subscribers.ts';
import type { DatabaseServer } from './database-server.ts';
import { World } from './world.ts';

const DUE = scaled(100_000, 200);
const DONE_WITHIN_MS = scaled(600_000, 240_000);
const LOOK_EVERY_MS = 250;
/** Counting reads all of them, which nobody else does. */
const LOOKS_PER_COUNT = scaled(20, 1);
/** Requests that are answered while nothing else happens. */
const IDLE_REQUESTS = scaled(1_000, 50);
/** How much longer a list may take beside renewals: the p99 in a full run; in a short one, of some 20 lists, the median. */
const SLOWER_MAX = FULL ? 2 : 10;

let world: World;

async function sizeForServer(database: DatabaseServer): Promise<void> {
  for (const statement of WRITE_SERVER_SETTINGS) await database.query(statement);
  await database.stop();
  await database.start();
}

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1, direct: true, prepare: sizeForServer });
}, 120_000);
afterAll(() => world?.close());

/** Active subscriptions of the merchant, each with a mandate, whose periods all end now. @returns when */
async function subscribe(): Promise<number> {
  const { merchantId } = world.merchant;
  const [store] = await world.database.query<{ store_id: string }>('select store_id from store');
  const client = await world.database.connect();
  const db = connect({ url: world.chain.url, poolSize: 2 });
  try {
    const dueAt = Math.floor(Date.now() / 1000);
    const chains = openChains({ simulatedDb: db, merchantNow: async () => Math.floor(Date.now() / 1000) });
    const payee = { merchantId, storeId: store?.store_id ?? '', chain: chains.sandbox(merchantId, 'erc20') };
    await addSubscribers(client, payee, { count: DUE, dueAt });
    return dueAt;
  } finally {
    await client.end();
    await db.destroy();
  }
}

/** Milliseconds of one page of the list of subscriptions. */
async function list(): Promise<number> {
  const startMs = performance.now();
  const { status, answer } = await world.merchant.request('GET', '/subscriptions?limit=20');
  const tookMs = performance.now() - startMs;
  expect(status).toBe(200);
  expect(answer.data).toHaveLength(20);
  return tookMs;
}

const quantile = (times: readonly number[], part: number) =>
  times.toSorted((a, b) => a - b)[Math.ceil(part * times.length) - 1] ?? Number.NaN;
const p99 = (times: readonly number[]) => quantile(times, 0.99);
const median = (times: readonly number[]) => quantile(times, 0.5);

const countPaid = async () =>
  (
    await world.database.query<{ paid: number }>(
      `select count(*)::int as paid from invoice where status = 'paid'`,
    )
  )[0]?.paid ?? 0;

test(`fault 80, I12, I16: ${DUE} renewals at the same second are billed and charged once each, in time, while lists answer`, {
  timeout: DONE_WITHIN_MS + scaled(1_800_000, 120_000),
}, async () => {
  const dueAt = await subscribe();
  await list();
  const idle: number[] = [];
  while (idle.length < IDLE_REQUESTS) idle.push(await list());
  const client = await world.database.connect();
  await beginBilling(client, [world.merchant.merchantId]);
  await client.end();
  const [startMs, busy]: [number, number[]] = [performance.now(), []];
  const untilMs = startMs + DONE_WITHIN_MS;
  for (let paid = 0; paid < DUE; await sleep(LOOK_EVERY_MS)) {
    busy.push(await list());
    if (busy.length % LOOKS_PER_COUNT > 0) continue;
    paid = await countPaid();
    if (performance.now() > untilMs) expect.unreachable(`${paid} of ${DUE} are paid in time`);
  }
  const seconds = (performance.now() - startMs) / 1000;
  console.log(
    `${DUE} renewals in ${seconds.toFixed(1)} s (${Math.round(DUE / seconds)}/s); the list answered ` +
      `${idle.length} times idle, median ${median(idle).toFixed(0)} and p99 ${p99(idle).toFixed(0)} ms, and ${busy.length} times meanwhile, ${median(busy).toFixed(0)} and ${p99(busy).toFixed(0)} ms`,
  );
  const usual = FULL ? p99 : median;
  expect(usual(busy)).toBeLessThan(SLOWER_MAX * usual(idle));
  expect(await world.judge()).toEqual([]);
  await expectEachOnce(dueAt);
});

/** Of each subscription: one invoice of its period, which one charge on the chain has paid, told of once. */
async function expectEachOnce(dueAt: number): Promise<void> {
  const once = { all: DUE, different: DUE };
  const count = (of: string, from: string) =>
    world.database.query(`select count(*)::int as all, count(distinct ${of})::int as different from ${from}`);
  const billed = `invoice where status = 'paid' and period_start = ${dueAt}`;
  expect(await count('subscription_id', billed)).toEqual([once]);
  expect(await count('subscription_id', 'invoice')).toEqual([once]);
  expect(await count('invoice_id', `payment where status = 'completed'`)).toEqual([once]);
  expect(await count('owner_id', `transfer where owner_type = 'charge' and status = 'succeeded'`)).toEqual([
    once,
  ]);
  expect(await count('owner_id', 'transfer')).toEqual([once]);
  expect(await count('subscription_id', 'simchain.transfer where mandate_id is not null')).toEqual([once]);
  expect(
    await count(
      'subscription_id',
      `subscription where status = 'active' and current_period_start = ${dueAt}`,
    ),
  ).toEqual([once]);
  for (const type of ['invoice.created', 'invoice.paid', 'payment.completed'])
    expect([type, await count('resource', `event where type = '${type}'`)]).toEqual([type, [once]]);
}
