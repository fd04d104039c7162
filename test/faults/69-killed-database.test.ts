import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { underLoad } from './load.ts';
import { COMMIT } from './proxy.ts';
import { NETWORKS, World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 2, workers: 2 });
}, 120_000);
afterAll(() => world?.close());

const KILLS = scaled(100, 3);
const CUTS = scaled(200, 4);
const CLIENTS = 4;
const LOAD_MS = 300;

test(`fault 69: PostgreSQL is killed ${KILLS} times under load, and no acknowledged write is lost`, {
  timeout: KILLS * 30_000,
}, async () => {
  const load = underLoad(CLIENTS, async (turn) => {
    const network = NETWORKS[turn % NETWORKS.length] ?? 'erc20';
    await world.merchant.submit(await world.merchant.create(world.items(network, 2)));
  });
  const acknowledged: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const before = world.merchant.submitted.size;
    await expect.poll(() => world.merchant.submitted.size, { timeout: 60_000 }).toBeGreaterThan(before);
    await sleep(LOAD_MS);
    await world.killDatabase();
    await world.startDatabase();
    acknowledged.push(world.merchant.submitted.size);
  }
  await load.end();
  expect(world.nodes.map((node) => node.isUp)).toEqual([true, true, true, true]);
  expect(await world.judge()).toEqual([]);
  expect(world.merchant.submitted.size).toBeGreaterThan(acknowledged[0] ?? 0);
});

test.each(['before', 'after'] as const)(
  'fault 70: a create is cut %s its COMMIT: a retry makes no second',
  {
    timeout: CUTS * 10_000,
  },
  async (when) => {
    for (let cut = 0; cut < CUTS; cut++) {
      const body = { currency: 'USDT', items: world.items('erc20', 1) };
      const idempotencyKey = randomUUID();
      const create = () =>
        world.merchant.request('POST', '/payout-batches', { body, idempotencyKey, node: 0 });
      const sprung = world.server.database.ambush({ statement: COMMIT, when });
      const [lost] = await Promise.all([create(), sprung]);
      expect([lost.status, lost.answer.errorCode], lost.text).toEqual([503, 'service_unavailable']);
      const made = await world.database.query<{ batch_id: string }>(
        'select batch_id from payout_batch where idempotency_key = $1',
        [idempotencyKey],
      );
      expect(made).toHaveLength(when === 'before' ? 0 : 1);
      const id = await world.merchant.create(body.items, idempotencyKey);
      const again = await create();
      expect([again.status, again.answer.batch_id]).toEqual([200, id]);
    }
  },
);

test.each(['before', 'after'] as const)(
  'fault 70: a submit is cut %s its COMMIT: the money is reserved once',
  {
    timeout: CUTS * 10_000,
  },
  async (when) => {
    for (let cut = 0; cut < CUTS; cut++) {
      const batchId = await world.merchant.create(world.items('spl', 1));
      const sprung = world.server.database.ambush({ statement: COMMIT, when });
      const [lost] = await Promise.all([
        world.merchant.request('POST', `/payout-batches/${batchId}/submit`, { body: {}, node: 0 }),
        sprung,
      ]);
      expect(lost.status, lost.text).toBe(503);
      await world.merchant.submit(batchId);
    }
  },
);

test('fault 70: a worker is cut at each of its COMMITs in turn, both ways', {
  timeout: CUTS * 20_000,
}, async () => {
  const [worker, other] = world.workers;
  await other?.kill();
  for (let cut = 0; cut < 2 * CUTS; cut++) {
    const when = cut % 2 === 0 ? 'before' : 'after';
    const line = cut % 4 < 2 ? worker?.database : worker?.chain;
    const sprung = line?.ambush({ statement: COMMIT, when });
    const network = NETWORKS[cut % NETWORKS.length] ?? 'erc20';
    await world.merchant.submit(await world.merchant.create(world.items(network, 2)));
    await world.controlChain(network, { mine: 3 });
    await sprung;
  }
  expect(worker?.isUp).toBe(true);
});

test('fault 70: after all of it nothing is lost and nothing double', { timeout: 150_000 }, async () => {
  expect(await world.judge()).toEqual([]);
});
