import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from './world.ts';

// A checker that finds nothing proves nothing: each breach is planted, found and taken back.

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1, merchants: 2, receive: 'flaky/4' });
  await world.merchant.submit(await world.merchant.create(world.items('erc20', 2)));
  await world.merchant.create(world.items('trc20', 1));
  const [, other] = world.merchants;
  await other?.submit(await other.create(world.items('spl', 1, { client: other })));
}, 120_000);
afterAll(() => world?.close());

test('a world in which nothing was broken is whole', { timeout: 150_000 }, async () => {
  expect(await world.judge()).toEqual([]);
});

const PLANTED = [
  [
    'I1',
    'update ledger_account set balance = balance + 1 where account = $$available$$',
    'an account is off',
  ],
  ['I1', 'update payout_batch set frozen_amount = 1 where submitted_at is not null', 'a batch keeps money'],
  [
    'I2',
    `update payout_item set status = $$failed$$ where status = $$succeeded$$ and index = 0`,
    'paid, yet failed',
  ],
  [
    'I2',
    'update simchain.transfer set amount = amount + 1 where item_id is not null',
    'the chain paid another sum',
  ],
  [
    'I4',
    `insert into payout_batch select (jsonb_populate_record(b, jsonb_build_object($$batch_id$$, gen_random_uuid()))).*
    from payout_batch b limit 1`,
    'a key has two batches',
  ],
  ['I5', 'delete from payout_batch where status = $$draft$$', 'a batch is lost'],
  ['I5', 'update payout_batch set submitted_at = null where submitted_at is not null', 'a submit is lost'],
  ['I6', 'delete from event where sequence = 2', 'an event is missing'],
  ['I6', 'update payout_batch set status = $$failed$$ where status = $$draft$$', 'state without news'],
  ['I6', 'delete from delivery where number = 1', 'news that nobody sends'],
  ['I6', 'update event set body = body || $$ $$ where sequence = 1', 'other bytes came'],
  [
    'I6',
    'update delivery set status = $$failed$$, attempts = $$[]$$ where number = 1',
    'no attempt tells why',
  ],
  [
    'I8',
    `with moved as (update webhook_endpoint set endpoint_id = gen_random_uuid() returning merchant_id, endpoint_id)
    update delivery d set endpoint_id = moved.endpoint_id from moved where moved.merchant_id = d.merchant_id`,
    'webhooks came where nobody asked for them',
  ],
] as const;

test.each(PLANTED)('$0: $2', async (invariant, breach) => {
  const client = await world.database.connect();
  try {
    await client.query('begin');
    await client.query(breach);
    const found = await world.findIn(client);
    expect(found.map((finding) => finding.invariant)).toContain(invariant);
  } finally {
    await client.end();
  }
});

test('I8: what another merchant was told is found: its canary, and any id of its things', async () => {
  const [own, other] = world.merchants;
  if (own === undefined || other === undefined) throw new Error('there are two merchants');
  const [batch] = [...other.idsByKey.values()].flatMap((ids) => [...ids]);
  const paths = [`/payout-batches/${batch}`, `/payout-batches/${batch}/items`, '/ledger_entries'];
  for (const path of paths) {
    const exchange = await other.request('GET', path);
    expect(exchange.status).toBe(200);
    expect(exchange.text.includes(other.canary)).toBe(path.endsWith('/items'));
    own.exchanges.push({ ...exchange, isHostile: true });
    const found = await world.judge();
    own.exchanges.pop();
    expect(found.map((finding) => finding.invariant)).toContain('I8');
  }
});

test('I9, I15: a nonce that was taken twice and an answer of no known shape are found', async () => {
  const [first] = world.merchant.exchanges.filter(({ status }) => status === 200);
  if (first === undefined) throw new Error('nothing was answered');
  world.merchant.exchanges.push({ ...first, isHostile: true }, { ...first, nonce: 'another', status: 500 });
  const found = await world.judge();
  expect(found.map((finding) => finding.invariant)).toEqual(['I9', 'I15']);
});
