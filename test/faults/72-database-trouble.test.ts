import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { send } from '../signed-request.ts';
import { World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 2, workers: 1, env: { FLORIN_POOL_SIZE: '4' } });
}, 120_000);
afterAll(() => world?.close());

const create = (idempotencyKey: string = randomUUID(), node = 0) =>
  world.merchant.request('POST', '/payout-batches', {
    body: { currency: 'USDT', items: world.items('erc20', 1) },
    idempotencyKey,
    node,
  });

test('fault 73: half-open sockets: requests over them end in time, other nodes go on, all resumes', {
  timeout: 120_000,
}, async () => {
  world.server.database.freeze();
  const stuck = create();
  for (let i = 0; i < 3; i++) expect((await create(undefined, 1)).status).toBe(200);
  await sleep(scaled(30_000, 1_000));
  world.server.database.mend();
  expect([0, 200, 503]).toContain((await stuck).status);
  await expect.poll(async () => (await create()).status, { timeout: 20_000 }).toBe(200);
});

test('fault 73: many connections at once over a small pool: all are answered, nothing deadlocks', {
  timeout: 120_000,
}, async () => {
  const all = await Promise.all(
    Array.from({ length: scaled(2_000, 150) }, (_, i) => create(undefined, i % 2)),
  );
  const statuses = new Set(all.map(({ status }) => status));
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(statuses.has(200)).toBe(true);
});

/** Fails every fifth change of a batch as a lost race does, by the database itself. */
const PLANT = `
  create function lose() returns trigger language plpgsql as $$
  begin
    -- A sequence is not rolled back with the transaction that lost.
    if nextval('race_turn') % 5 = 0 then
      raise exception 'planted' using errcode = case when nextval('race_kind') % 2 = 0 then '40001' else '40P01' end;
    end if;
    return new;
  end $$;
  create sequence race_turn;
  create sequence race_kind;
  grant all on race_turn, race_kind to public;
  create trigger lose before insert or update on payout_batch for each row execute function lose()`;
const UNPLANT = `drop trigger lose on payout_batch; drop function lose; drop sequence race_turn, race_kind`;

test('fault 74: a fifth of all transactions lose a race: each is run again whole, with the same result', {
  timeout: 120_000,
}, async () => {
  await world.database.query(PLANT);
  const ids = await Promise.all(
    Array.from({ length: scaled(500, 20) }, async () => {
      const id = await world.merchant.create(world.items('spl', 2));
      await world.merchant.submit(id);
      return id;
    }),
  );
  const [lost] = await world.database.query<{ n: number }>('select last_value::int as n from race_kind');
  expect(lost?.n).toBeGreaterThan(2);
  expect(new Set(ids).size).toBe(ids.length);
  expect(await world.judge()).toEqual([]);
  await world.database.query(UNPLANT);
});

test('fault 75: a row that another client holds: 503 within the lock timeout, other rows go on', {
  timeout: 120_000,
}, async () => {
  const heldKey = randomUUID();
  const held = await world.merchant.create(world.items('erc20', 1), heldKey);
  const free = await world.merchant.create(world.items('erc20', 1));
  const holder = await world.database.connect();
  await holder.query('begin');
  await holder.query('select from payout_batch where idempotency_key = $1 for update', [heldKey]);
  const waits = world.merchant.request('POST', `/payout-batches/${held}/submit`, { body: {} });
  const startedMs = performance.now();
  await world.merchant.submit(free);
  expect(performance.now() - startedMs).toBeLessThan(7_500);
  const told = await waits;
  expect([told.status, told.answer.errorCode]).toEqual([503, 'service_unavailable']);
  await holder.query('rollback');
  await holder.end();
  await world.merchant.submit(held);
});

test('fault 75: a lock on a hot table: writes are 503 within their timeout, reads go on', {
  timeout: 120_000,
}, async () => {
  const known = await world.merchant.create(world.items('erc20', 1));
  const holder = await world.database.connect();
  await holder.query('begin; lock table payout_batch in exclusive mode');
  const write = create();
  const read = await world.merchant.request('GET', `/payout-batches/${known}`);
  expect(read.status).toBe(200);
  expect((await write).status).toBe(503);
  await holder.query('rollback');
  await holder.end();
  expect((await create()).status).toBe(200);
});

test('I15: the simulated chain is away: its helpers are 503, money given meanwhile arrives later', {
  timeout: 120_000,
}, async () => {
  const { chain } = world.server;
  await world.servers[1]?.kill();
  chain.cut();
  const mined = await world.merchant.request('POST', '/test_helpers/chains/spl', {
    body: { mine: 1 },
    node: 0,
  });
  expect(mined).toMatchObject({ status: 503, answer: { error: { code: 'service_unavailable' } } });
  expect(mined.retryAfter).not.toBeNull();
  const listed = await world.merchant.request('GET', '/test_helpers/chains/spl/transfers', { node: 0 });
  expect(listed.status).toBe(503);
  const funds = { currency: 'USDT', network: 'spl', amount: 1_000_000 };
  const given = await world.merchant.request('POST', '/test_helpers/fund', { body: funds, node: 0 });
  expect(given.status, given.text).toBe(200);
  // The judge of this file compares what lies on the chain with the books.
  chain.mend();
  await world.servers[1]?.start();
});

test('fault 77: a client whose clock is 299 s off is served, one 400 s off is refused, whatever the merchant’s clock', {
  timeout: 60_000,
}, async () => {
  await world.merchant.insist('POST', '/test_helpers/clock/advance', { seconds: 86_400 });
  for (const node of world.servers) {
    for (const [skew, status] of [
      [-299, 200],
      [-400, 401],
      [299, 200],
      [400, 401],
    ] as const) {
      const timestamp = String(Math.floor(Date.now() / 1000) + skew);
      const answer = await send(`${node.baseUrl}/api/v1/balances`, world.merchant.credentials, { timestamp });
      expect([skew, answer.status]).toEqual([skew, status]);
    }
  }
});

test('I1, I2, I15: after all of it nothing is lost and nothing double', { timeout: 150_000 }, async () => {
  expect(await world.judge()).toEqual([]);
});
