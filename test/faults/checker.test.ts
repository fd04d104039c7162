import { afterAll, beforeAll, expect, test } from 'vitest';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { World } from './world.ts';

// A checker that finds nothing proves nothing: each breach is planted, found and taken back.

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1, merchants: 2, receive: 'flaky/4' });
  await world.merchant.submit(await world.merchant.create(world.items('erc20', 2)));
  await world.merchant.create(world.items('trc20', 1));
  for (const how of ['paid', 'canceled']) {
    const session = await world.merchant.openSession(5_000_000, how);
    if (how === 'canceled') await world.merchant.insist('POST', `/checkout/sessions/${session}/cancel`, {});
    await world.merchant.pay(session, { currency: 'USDT', network: 'trc20', amount: 5_000_000 });
  }
  const [, other] = world.merchants;
  await other?.submit(await other.create(world.items('spl', 1, { client: other })));
  const session = await world.merchant.insist('POST', '/checkout/sessions/create', {
    amount: 9_000_000,
    currency: 'USDT',
  });
  const pay = `/test_helpers/checkout/sessions/${String(session.id)}/pay`;
  await world.merchant.insist('POST', pay, { currency: 'USDT', network: 'erc20' });
  await world.merchant.insist('POST', '/refunds/create', {
    refund_id: 'r-1',
    payment_id: session.payment_id,
    address: testAddresses('erc20').succeed,
  });
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
  [
    'I1',
    'update payout_batch set charged_service_fee_amount = 1 where submitted_at is not null',
    'a batch charges what its items do not',
  ],
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
  ['I1', 'update refund set status = $$processing$$, completed_at = null', 'a refund holds nothing'],
  [
    'I1',
    'update payment set refunded_amount = refunded_amount - 1 where refunded_amount > 0',
    'a payment forgets a refund',
  ],
  ['I1', 'update refund_quota set amount = amount + 1', "a store's day is off"],
  ['I2', 'update refund set amount = amount + 1', 'the chain paid another refund'],
  ['I2', 'delete from transfer where owner_type = $$refund$$', 'a refund that nobody ordered'],
  [
    'I6',
    'update refund set status = $$canceled$$, tx_id = null',
    'a refund that ended otherwise than its news says',
  ],
  ['I2', 'delete from sweep_part', 'a sweep moves coins of nobody'],
  [
    'I4',
    `insert into payout_batch select (jsonb_populate_record(b, jsonb_build_object($$batch_id$$, gen_random_uuid()))).*
    from payout_batch b limit 1`,
    'a key has two batches',
  ],
  [
    'I1',
    `update payment set status = $$expired$$, completed_at = null,
      held_amount = received_amount - refunded_amount - refunding_amount where status = $$completed$$`,
    'a payment holds what is not held',
  ],
  [
    'I3',
    'delete from simchain.transfer where recipient in (select watch from deposit_address)',
    'a credit without coins',
  ],
  ['I3', 'delete from payment_transaction', 'coins without a credit'],
  [
    'I3',
    'update payment_transaction set status = $$seen$$, final_at = null, sweep_id = null, swept_amount = 0',
    'coins that were never final',
  ],
  [
    'I3',
    `insert into ledger_entry select (jsonb_populate_record(e, jsonb_build_object($$entry_id$$, gen_random_uuid()))).*
    from ledger_entry e where cause_type = $$payment$$ and debit like $$custody:%$$ limit 1`,
    'a transfer is credited twice',
  ],
  ['I3', 'update simchain.chain set settled_height = 101', 'a credit before finality'],
  ['I5', 'delete from checkout_session', 'a session is lost'],
  ['I6', 'delete from event where resource like $$pay%$$', 'a payment without news'],
  [
    'I7',
    'update payment set status = $$completed$$, completed_at = 1, held_amount = 0 where status = $$cancelled$$',
    'completed after a cancel',
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

test('I8: data shown to another merchant is found: its canary, and any id of its resources', async () => {
  const [own, other] = world.merchants;
  if (own === undefined || other === undefined) throw new Error('there are two merchants');
  const [batch] = [...other.idsByKey.values()].flatMap((ids) => [...ids]);
  const paths = [`/payout-batches/${batch}`, `/payout-batches/${batch}/items`, '/ledger_entries'];
  for (const path of paths) {
    const exchange = await other.request('GET', path);
    expect(exchange.status).toBe(200);
    expect(exchange.text.includes(other.canary)).toBe(path.endsWith('/items'));
    const planted = { ...exchange, isHostile: true };
    own.exchanges.push(planted);
    const found = await world.judge();
    own.exchanges.splice(own.exchanges.indexOf(planted), 1);
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
