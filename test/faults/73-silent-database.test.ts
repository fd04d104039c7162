import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FULL } from '../scale.ts';
import { COMMIT } from './proxy.ts';
import { NETWORKS, World } from './world.ts';

// A database that takes connections and says nothing. The harness's client waits for 20 s: an answer at all is one in time.

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 2, workers: 1, env: { FLORIN_POOL_SIZE: '4' } });
}, 120_000);
afterAll(() => world?.close());

const UNAVAILABLE = { status: 503, answer: { errorCode: 'service_unavailable' } };
const MADE = 'select batch_id from payout_batch where idempotency_key = $1';
/** Longer than any connection waits for an answer. */
const SILENT_MS = 12_000;

const create = (idempotencyKey: string = randomUUID()) =>
  world.merchant.request('POST', '/payout-batches', {
    body: { currency: 'USDT', items: world.items('erc20', 1) },
    idempotencyKey,
    node: 0,
  });

async function readiness(): Promise<{ code: number; status: string }> {
  const answer = await fetch(`${world.server.baseUrl}/readyz`);
  const { status } = (await answer.json()) as { status: string };
  return { code: answer.status, status };
}

test('M1, fault 73: a database that says nothing more: calls are 503 in time, the node says so, both end by themselves', {
  timeout: 180_000,
}, async () => {
  await create();
  const { database } = world.server;
  database.freeze();
  const [write, read, ready] = await Promise.all([
    create(),
    world.merchant.request('GET', '/payout-batches', { node: 0 }),
    readiness(),
  ]);
  expect(write).toMatchObject(UNAVAILABLE);
  expect(write.retryAfter).not.toBeNull();
  expect(read).toMatchObject(UNAVAILABLE);
  expect(ready).toEqual({ code: 503, status: 'not_ready' });
  // Now there are no old connections left, only ones that are never let in.
  expect(await create()).toMatchObject(UNAVAILABLE);
  database.thaw();
  await expect.poll(async () => (await create()).status, { timeout: 60_000 }).toBe(200);
  expect(await readiness()).toEqual({ code: 200, status: 'ready' });
});

test('M1, fault 73: connections that fell silent one by one are given up, and never handed to the next caller', {
  timeout: 180_000,
}, async () => {
  const { database } = world.server;
  await Promise.all(Array.from({ length: 8 }, () => create()));
  database.freeze();
  database.thaw();
  // Each call may still meet one of them, and then another at its next statement: never the same one twice.
  await expect.poll(async () => (await create()).status, { timeout: 150_000 }).toBe(200);
  for (let i = 0; i < 8; i++) expect((await create()).status).toBe(200);
});

test.each(['before', 'after'] as const)(
  'M1, fault 70: no answer to COMMIT, which fell silent %s it was done: 503, and a retry makes no second',
  { timeout: 120_000 },
  async (when) => {
    const idempotencyKey = randomUUID();
    const sprung = world.server.database.ambush({ statement: COMMIT, when, silently: true });
    const [told] = await Promise.all([create(idempotencyKey), sprung]);
    expect(told).toMatchObject(UNAVAILABLE);
    expect(await world.database.query(MADE, [idempotencyKey])).toHaveLength(when === 'before' ? 0 : 1);
    // The server ends a transaction whose client vanished without a word after 30 s; until then its key is held.
    world.server.database.mend();
    const id = await world.merchant.create(JSON.parse(told.body ?? '').items, idempotencyKey);
    expect(await world.merchant.find(idempotencyKey)).toBe(id);
    expect(await world.database.query(MADE, [idempotencyKey])).toHaveLength(1);
  },
);

test('I2, I11, fault 73: a worker whose database or chain says nothing goes on by itself', {
  timeout: 180_000,
}, async () => {
  const { database, chain } = world.worker;
  for (const line of FULL ? [database, chain] : [database]) {
    const batches = await Promise.all(
      NETWORKS.map((network) => world.merchant.create(world.items(network, 2))),
    );
    await Promise.all(batches.map((id) => world.merchant.submit(id)));
    line.freeze();
    await sleep(SILENT_MS);
    line.thaw();
    const open = async () => {
      for (const network of NETWORKS) await world.controlChain(network, { mine: 40 });
      const states = await Promise.all(
        batches.map((id) => world.merchant.insist('GET', `/payout-batches/${id}`)),
      );
      return states.filter(({ status }) => status !== 'completed').length;
    };
    await expect.poll(open, { timeout: 60_000, interval: 500 }).toBe(0);
  }
  expect(world.worker.isUp).toBe(true);
});

test('I1, I2, I5: after all of it nothing is lost and nothing double', { timeout: 150_000 }, async () => {
  expect(await world.judge()).toEqual([]);
});
