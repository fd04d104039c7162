import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { countCopies } from './check-deliveries.ts';
import { underLoad } from './load.ts';
import { World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 2, receive: 'status/200' });
}, 120_000);
afterAll(() => world?.close());

const POLL = { timeout: 60_000, interval: 100 };
const KILLS = scaled(40, 1);
const NEWS = scaled(2_000, 40);

/** Of one event at the moment of death: how often it comes more than once. Only what was sent and not recorded does. */
const POINTS = [
  { point: 'publish.before-transaction', copies: 0 },
  { point: 'publish.after-commit', copies: 0 },
  { point: 'deliver.before-send', copies: 0 },
  { point: 'deliver.after-send', copies: 1 },
  { point: 'deliver.recorded', copies: 0 },
];

const made = async () =>
  Number((await world.database.query<{ n: string }>('select count(*) as n from event'))[0]?.n);

/** Drafts, each of which is one event. */
async function makeEvent(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await world.merchant.create(world.items('erc20', 1));
}

/** Every event has come, and nothing waits. */
async function allCame(): Promise<void> {
  const left = async () =>
    (
      await world.database.query(
        `select from event left join delivery using (merchant_id, event_id)
         where status is distinct from 'delivered'`,
      )
    ).length;
  await expect.poll(left, POLL).toBe(0);
}

/** Requests beyond the first of each event, since the last time that somebody asked. */
async function newCopies(): Promise<number> {
  const { requests } = await world.receiver.report();
  const all = requests.length - countCopies(requests).size;
  const fresh = all - copiesBefore;
  copiesBefore = all;
  return fresh;
}
let copiesBefore = 0;

beforeEach(async () => {
  await world.heal();
});

test.each(POINTS)(
  `fault 8, E7, E8: a worker dies at $point, ${KILLS} times: every event comes, $copies copies a kill`,
  { timeout: KILLS * 60_000 },
  async ({ point, copies }) => {
    const [worker, other] = world.workers;
    await other?.kill();
    for (let kill = 0; kill < KILLS; kill++) {
      await worker?.kill();
      await worker?.start({ crashPoint: `${point}:${1 + (kill % 2)}` });
      // Before the one at which it dies, another has come and is recorded.
      for (let pass = kill % 2; pass > 0; pass--) {
        await makeEvent(1);
        await allCame();
      }
      await makeEvent(1);
      expect(await worker?.ended).toEqual({ signal: 'SIGKILL', code: null });
      await worker?.start();
      await allCame();
      expect(await newCopies()).toBe(copies);
    }
  },
);

test('fault 8: two workers at once send no copies, nor do workers that are restarted under load', {
  timeout: 180_000,
}, async () => {
  await makeEvent(NEWS);
  await allCame();
  expect(await newCopies()).toBe(0);
  const load = underLoad(4, () => makeEvent(1));
  for (let restart = 0; restart < 4; restart++) {
    const worker = world.workers[restart % 2];
    await sleep(300);
    expect(await worker?.stop()).toEqual({ signal: null, code: 0 });
    await worker?.start();
  }
  await load.end();
  await allCame();
  expect(await newCopies()).toBe(0);
});

test(`fault 8: the database goes, ${KILLS} times, while attempts are under way: each event comes twice at most`, {
  timeout: KILLS * 120_000,
}, async () => {
  const endpointId = await world.addEndpoint('late/150');
  for (let kill = 0; kill < KILLS; kill++) {
    const before = await world.received(endpointId);
    await makeEvent(8);
    const fresh = async () => (await world.received(endpointId)).length - before.length;
    await expect.poll(fresh, POLL).toBeGreaterThan(0);
    await world.killDatabase();
    await sleep(500);
    await world.startDatabase();
    await allCame();
    const added = (await world.received(endpointId)).slice(before.length);
    for (const [key, copies] of countCopies(added)) expect(copies, key).toBeLessThanOrEqual(2);
    await newCopies();
  }
});

test.each(['before', 'after'] as const)(
  `fault 8, fault 70: a worker is cut ${KILLS} times %s its record is written: no copy, as it lives on and writes it`,
  { timeout: KILLS * 60_000 },
  async (when) => {
    const [worker, other] = world.workers;
    await other?.kill();
    let cuts = 0;
    for (let tries = 0; cuts < KILLS && tries < 10 * KILLS; tries++) {
      // The text of a prepared statement is sent on a connection's first use alone: one that was used meanwhile springs nothing.
      worker?.database.blink();
      const sprung = worker?.database.ambush({ statement: /update delivery d set/, when })?.then(() => true);
      await makeEvent(3);
      await allCame();
      if (await Promise.race([sprung, sleep(100).then(() => false)])) cuts += 1;
    }
    expect(cuts).toBe(KILLS);
    expect(await newCopies()).toBe(0);
  },
);

test('fault 70, E9: a worker is cut after the commit of a failed attempt: it counts once against its endpoint', {
  timeout: 120_000,
}, async () => {
  const [worker, other] = world.workers;
  await other?.kill();
  let isCut = false;
  for (let tries = 0; !isCut && tries < 20; tries++) {
    const endpointId = await world.addEndpoint('sequence/503,200');
    worker?.database.blink();
    const statement = /with locked as materialized[\s\S]*update delivery d set/;
    const sprung = worker?.database.ambush({ statement, when: 'after' })?.then(() => true);
    await makeEvent(1);
    const failures = async () => {
      const [row] = await world.database.query<{ failures: number; attempts: string }>(
        `select failures, (select sum(jsonb_array_length(attempts)) from delivery d where d.endpoint_id = w.endpoint_id)
         as attempts from webhook_endpoint w where endpoint_id = $1`,
        [endpointId],
      );
      return { failures: row?.failures, attempts: Number(row?.attempts) };
    };
    await expect.poll(failures, POLL).toEqual({ failures: 1, attempts: 1 });
    isCut = (await Promise.race([sprung, sleep(1_000).then(() => false)])) ?? false;
    // What is sent again after the cut is written by now, and has counted nothing.
    expect(await failures()).toEqual({ failures: 1, attempts: 1 });
  }
  expect(isCut).toBe(true);
});

test("fault 8: after all of it every event has come, with the same bytes each time, and nobody has seen a stranger's", {
  timeout: 150_000,
}, async () => {
  expect(await world.judge()).toEqual([]);
  const { requests } = await world.receiver.report();
  expect(requests.length).toBeGreaterThan(await made());
});
