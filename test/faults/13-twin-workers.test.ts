import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { NETWORKS, World } from './world.ts';

const SAME_NUMBERS = pathToFileURL(path.join(import.meta.dirname, 'preload-same-numbers.ts')).href;
const NUMBERS = `select objid::int as owner from pg_locks where locktype = 'advisory' and objsubid = 2 order by 1`;
const ROUNDS = scaled(50, 4);

let world: World;

beforeAll(async () => {
  const env = { NODE_OPTIONS: `--import ${SAME_NUMBERS}` };
  world = await World.open({ servers: 1, workers: 2, env });
}, 120_000);
afterAll(() => world?.close());

const numbers = async () =>
  (await world.database.query<{ owner: number }>(NUMBERS)).map(({ owner }) => owner);

test('fault 13: two workers that draw the same number end up with different ones', {
  timeout: 60_000,
}, async () => {
  await expect.poll(numbers, { timeout: 30_000 }).toEqual([7, 8, 9, 10]);
});

test('fault 13: they lose their sessions and die under load, and come back with numbers that were used: no double effect', {
  timeout: ROUNDS * 60_000,
}, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const worker = world.workers[round % 2];
    const load = NETWORKS.map(async (network) =>
      world.merchant.submit(await world.merchant.create(world.items(network, 3))),
    );
    if (round % 4 < 2) {
      worker?.database.blink();
    } else {
      await worker?.kill();
      await worker?.start();
    }
    await Promise.all(load);
  }
  await expect.poll(async () => new Set(await numbers()).size, { timeout: 30_000 }).toBe(4);
  expect(await world.judge()).toEqual([]);
});
