import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 2, workers: 1 });
}, 120_000);
afterAll(() => world?.close());

const MIGRATIONS = 'select name from kysely_migration order by name';
const MERCHANT_TABLES = `select count(*)::int as n from pg_class c join pg_namespace s on s.oid = c.relnamespace
  where s.nspname = 'public' and c.relkind = 'r'`;

test('fault 16: three nodes start at once on an empty database: all come up, each migration ran once', {
  timeout: 120_000,
}, async () => {
  const before = [
    await world.database.query(MIGRATIONS),
    await world.database.query<{ n: number }>(MERCHANT_TABLES),
  ];
  await world.database.query('create database empty_one');
  const empty = new URL(world.database.url);
  empty.pathname = '/empty_one';
  const nodes = await Promise.all([0, 1, 2].map(() => world.addStranger(empty.href)));
  try {
    await Promise.all(nodes.map((node) => node.start()));
    expect(nodes.map((node) => node.isUp)).toEqual([true, true, true]);
    const ready = await Promise.all(nodes.map((node) => fetch(`${node.baseUrl}/readyz`)));
    // No worker runs there, which takes no node out of service.
    for (const answer of ready) expect(await answer.json()).toEqual({ status: 'ready' });
    const after = [
      await world.database.query(MIGRATIONS, [], 'empty_one'),
      await world.database.query(MERCHANT_TABLES, [], 'empty_one'),
    ];
    expect(after).toEqual(before);
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
  }
});

test('fault 20: a client that goes away before the answer, again and again, makes one batch', {
  timeout: 60_000,
}, async () => {
  for (let round = 0; round < scaled(100, 5); round++) {
    const body = { currency: 'USDT', items: world.items('erc20', 2) };
    const idempotencyKey = randomUUID();
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const cut = AbortSignal.timeout(i + round);
        await world.merchant.request('POST', '/payout-batches', { body, idempotencyKey, signal: cut });
      }),
    );
    await world.merchant.create(body.items, idempotencyKey);
    const made = await world.database.query('select from payout_batch where idempotency_key = $1', [
      idempotencyKey,
    ]);
    expect(made).toHaveLength(1);
  }
});

test('fault 21: what was sent before a crash of the database and a restart of every node is refused after it', {
  timeout: 60_000,
}, async () => {
  const batchId = await world.merchant.create(world.items('erc20', 1));
  await world.merchant.submit(batchId);
  await world.merchant.request('GET', `/payout-batches/${batchId}`);
  const heard = world.merchant.exchanges.filter(({ status }) => status === 200).slice(-3);
  await world.killDatabase();
  await Promise.all(world.servers.map((server) => server.kill()));
  await world.startDatabase();
  await world.heal();
  for (const exchange of heard) {
    for (const node of [0, 1]) {
      const { status, text } = await world.merchant.replay(exchange, node);
      expect(status, text).toBe(401);
    }
  }
});

test('fault 11: SIGTERM under load: what is in flight is answered, and the node ends with 0', {
  timeout: 60_000,
}, async () => {
  const flows = Array.from({ length: 12 }, () => world.merchant.create(world.items('trc20', 1)));
  const ended = world.server.stop();
  await Promise.all(flows);
  expect(await ended).toEqual({ signal: null, code: 0 });
  await world.server.start();
});

test('I4, I5, I9: after all of it nothing is lost and nothing double', { timeout: 150_000 }, async () => {
  expect(await world.judge()).toEqual([]);
});
