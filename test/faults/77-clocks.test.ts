import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FULL } from '../scale.ts';
import { send } from '../signed-request.ts';
import { freezeDatabaseClock, makeClockSettable, setDatabaseClock } from './database-clock.ts';
import type { NodeUnderTest } from './node-under-test.ts';
import { NETWORKS, World } from './world.ts';

const PRELOAD = pathToFileURL(path.join(import.meta.dirname, 'preload-skewed-clock.ts')).href;
const BALANCES = '/api/v1/balances';
const HOUR = 3_600;
const DAY = 86_400;
const OVER = ['completed'];
const POLL = { timeout: 60_000, interval: 500 };

let world: World;
let skewed: NodeUnderTest[];

beforeAll(async () => {
  world = await World.open({ servers: 0, workers: 0, prepare: makeClockSettable });
  const addNode = (role: 'serve' | 'work', ahead: number) =>
    world.addNode(role, { NODE_OPTIONS: `--import ${PRELOAD}`, TEST_CLOCK_AHEAD: String(ahead) });
  await world.addNode('serve');
  await world.addNode('work');
  skewed = [await addNode('serve', 299), await addNode('serve', -400), await addNode('work', 400)];
  await world.heal();
}, 120_000);
afterAll(() => world?.close());

/** A request stamped that far from the real time. */
const ask = async (node: NodeUnderTest, stampAhead: number) => {
  const timestamp = String(Math.floor(Date.now() / 1000) + stampAhead);
  return (await send(`${node.baseUrl}${BALANCES}`, world.merchant.credentials, { timestamp })).status;
};

/** Payouts on all networks, from their creation to their end. */
async function payOut(): Promise<void> {
  const { merchant } = world;
  const batches = await Promise.all(NETWORKS.map((network) => merchant.create(world.items(network, 2))));
  await Promise.all(batches.map((id) => merchant.submit(id)));
  const open = async () => {
    for (const network of NETWORKS) await world.controlChain(network, { mine: 40 });
    const states = await Promise.all(batches.map((id) => merchant.insist('GET', `/payout-batches/${id}`)));
    return states.filter(({ status }) => !OVER.includes(String(status))).length;
  };
  await expect.poll(open, POLL).toBe(0);
}

test('fault 77: nodes whose clocks are 299 s and 400 s off go by the database’s time, each of them', {
  timeout: 120_000,
}, async () => {
  for (const node of world.servers) {
    for (const [stamp, status] of [
      [-290, 200],
      [-400, 401],
      [0, 200],
      [290, 200],
      [400, 401],
    ] as const) {
      expect([node.name, stamp, await ask(node, stamp)]).toEqual([node.name, stamp, status]);
    }
  }
  await world.workers[0]?.kill();
  await payOut();
  await world.heal();
});

test('fault 77: a node whose clock is off says so, to balancers and to monitoring', async () => {
  const [right, ahead, behind] = world.servers;
  for (const [node, status, offset] of [
    [right, 200, 0],
    [ahead, 503, -299],
    [behind, 503, 400],
  ] as const) {
    const ready = await fetch(`${node?.baseUrl}/readyz`);
    expect(ready.status).toBe(status);
    expect(await ready.json()).toEqual({ status: status === 200 ? 'ready' : 'not_ready' });
    const metrics = await (await fetch(`${node?.baseUrl}/metrics`)).text();
    const shown = Number(/^florin_clock_offset_seconds (\S+)$/m.exec(metrics)?.[1]);
    expect(Math.abs(shown - offset)).toBeLessThan(5);
  }
});

test('fault 77: I9: nodes whose clocks are set by hours and days while they run serve on, and take nothing twice', {
  timeout: 240_000,
}, async () => {
  for (let step = 0; step < (FULL ? 4 : 2); step++) {
    for (const node of skewed) node.signal('SIGUSR2');
    for (const node of world.servers) expect(await ask(node, 0)).toBe(200);
    await payOut();
    const heard = world.merchant.exchanges.filter(({ status }) => status === 200).slice(-3);
    for (const exchange of heard) {
      for (const node of world.servers.keys()) {
        expect((await world.merchant.replay(exchange, node)).status).toBe(401);
      }
    }
  }
});

test('fault 77: the database’s clock is set: it rules all nodes, payouts go on, and when it is set back no nonce is fresh again', {
  timeout: 600_000,
}, async () => {
  const { database, merchant } = world;
  // The other one would forget nothing anyway.
  await world.workers[1]?.kill();
  for (const ahead of FULL ? [HOUR, -HOUR, DAY, -DAY] : [HOUR]) {
    await merchant.insist('GET', '/balances');
    const [heard] = merchant.exchanges.slice(-1);
    const kept = timesKept();
    await setDatabaseClock(database, ahead);
    for (const node of world.servers) await expect.poll(() => ask(node, ahead), POLL).toBe(200);
    for (const node of world.servers) expect(await ask(node, 0)).toBe(401);
    merchant.aheadSeconds = ahead;
    await payOut();
    if (ahead > 0) await expect.poll(timesKept, { timeout: 180_000 }).toBeGreaterThan(kept);
    await setDatabaseClock(database, 0);
    for (const node of world.servers) await expect.poll(() => ask(node, 0), POLL).toBe(200);
    merchant.aheadSeconds = 0;
    for (const node of world.servers.keys()) {
      if (heard !== undefined) expect((await merchant.replay(heard, node)).status).toBe(401);
    }
  }
});

/** How often a worker that was to forget nonces kept them, as the clocks disagreed. */
const timesKept = () =>
  world.workers.flatMap(({ log }) => log).filter((line) => line.includes('nonces are kept')).length;

test('fault 77: the database’s clock stands still: payouts go on', { timeout: 120_000 }, async () => {
  await freezeDatabaseClock(world.database);
  await sleep(FULL ? 40_000 : 12_000);
  await payOut();
  const left = await world.database.query(
    `select from payout_batch where status in ('pending', 'processing')`,
  );
  expect(left).toEqual([]);
  await setDatabaseClock(world.database, 0);
});

test('I1, I2, I9: after all of it nothing is lost and nothing double', { timeout: 150_000 }, async () => {
  await payOut();
  expect(await world.judge()).toEqual([]);
});
