import { afterAll, beforeAll, expect, test } from 'vitest';
import { testAddresses } from '../../packages/server/src/chains/index.ts';
import { surplusesThatDiffer } from './check-coins.ts';
import type { Query } from './checker.ts';
import type { GoodClient } from './good-client.ts';
import { setThresholds } from './seeded-people.ts';
import { type Person, World } from './world.ts';

// As in checker.test.ts, of money that strangers sent, people decided on and quotes were made for: each statement has a
// breach that it finds by itself.

const TOKEN = 1_000_000;
const SENT = 12n;
const BOOKED = '0.000007';

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1, merchants: 2 });
  const [merchant, careful] = world.merchants;
  if (merchant === undefined || careful === undefined) throw new Error('there are two merchants');
  await setThresholds(world);
  await world.operate(({ settings }) => settings.set('payouts.unapproved_per_day', '2.00', careful.publicId));
  const people = world.people.get(careful.merchantId) ?? [];
  await decideBatches(careful, people);
  await decideRefunds(careful, people);
  await sendDust(merchant);
  await payByQuote(merchant);
}, 180_000);
afterAll(() => world?.close());

/** One goes out unapproved, one is approved by two, one is rejected. */
async function decideBatches(client: GoodClient, [ann, bob]: readonly Person[]): Promise<void> {
  const submit = async () => {
    const batch = await client.create(world.items('spl', 1, { client }));
    await client.submit(batch);
    return batch;
  };
  await submit();
  const [approved, rejected] = [await submit(), await submit()];
  await world.operate(async ({ payouts }) => {
    for (const person of [ann, bob]) if (person) await payouts.approve({ batch: approved, ...person });
    if (ann) await payouts.reject({ batch: rejected, ...ann });
  });
}

/** One goes to the proven wallet without a word, one is large and approved by two. */
async function decideRefunds(client: GoodClient, people: readonly Person[]): Promise<void> {
  const session = await client.openSession(9 * TOKEN);
  await client.pay(session, { currency: 'USDT', network: 'trc20', connected: true });
  await client.refund(session);
  const large = await client.refund(session, testAddresses('trc20').succeed, 6);
  const refund = String(large?.refund_id);
  await world.operate(async ({ refunds }) => {
    for (const person of people) await refunds.approve({ refund, merchant: client.publicId, ...person });
  });
}

/** Of what a stranger sent to the wallet a part is booked. */
async function sendDust(client: GoodClient): Promise<void> {
  await world.onChain(client, 'erc20', async (chain) => {
    const from = chain.payerAddress('a stranger');
    world.strangers.add(from);
    await chain.pay({ transfers: [{ from, to: await chain.hotAddress(), asset: 'USDT', amount: SENT }] });
    await chain.mine(4);
  });
  const words = { network: 'erc20', currency: 'USDT', amount: BOOKED, reference: 'dust' };
  for (const person of world.people.get(client.merchantId) ?? [])
    await world.operate(({ networks }) => networks.bookSurplus({ ...words, ...person }, client.publicId));
}

async function payByQuote(client: GoodClient): Promise<void> {
  const session = await client.openSession(1_000, 'in dollars', 'USD');
  await client.pay(session, { currency: 'USDC', network: 'erc20' });
}

test('a world in which people decided all that is whole', { timeout: 150_000 }, async () => {
  expect(await world.judge()).toEqual([]);
});

const PLANTED = [
  [
    'ledger and chain differ',
    `update simchain.account set balance = balance - 5 where network = 'erc20' and currency = 'USDT'
     and address = (select recipient from simchain.transfer t where number = 1 and network = 'erc20'
       and t.merchant_id = account.merchant_id)`,
  ],
  [
    'more coins are booked than strangers sent',
    `insert into ledger_entry select (jsonb_populate_record(e, jsonb_build_object('entry_id', gen_random_uuid()))).*
     from ledger_entry e where cause_type = 'surplus'`,
  ],
  [
    'a surplus is booked for somebody',
    `update ledger_entry set credit = 'available' where cause_type = 'surplus'`,
  ],
  [
    'at a deposit address lies something else',
    `update simchain.account set balance = balance + 1 where address in (select watch from deposit_address)`,
  ],
  ['a batch went on without', `delete from vote where action = 'payouts.approval' and decision = 'approved'`],
  ['a batch went on without', `update approver set removed_at = 1 where name = 'Ann'`],
  ['a refund went on without', `delete from vote where action = 'refunds.approval'`],
  ['a refund went on without', `update approver set removed_at = 1 where name = 'Bob'`],
  [
    'a batch is rejected and nobody',
    `delete from vote where action = 'payouts.approval' and decision = 'rejected'`,
  ],
  [
    'what somebody rejected went on',
    `update vote set decision = 'rejected' where action = 'payouts.approval'`,
  ],
  [
    'what somebody rejected went on',
    `update vote set decision = 'rejected' where action = 'refunds.approval'`,
  ],
  ['more was paid out unapproved', `update payout_batch set required_approvals = 0`],
  [
    'more was refunded unapproved',
    `update refund set required_approvals = 0, approval_digest = null, approved_at = null`,
  ],
  [
    'a large refund needed no approval',
    `update refund set required_approvals = 0, approval_digest = null, approved_at = null`,
  ],
  ['an option asks for something else', `update payment_option set pay_amount = pay_amount + 10000`],
  ['a token is sold at a rate', `update payment_option set exchange_rate = '2'`],
  ['money counts at a quote', `update payment_option set quote_ends_at = 1`],
  ['paid to somebody else', `update simchain.transfer set recipient = 'another' where item_id is not null`],
  ['that nobody named it for', `update payment_transaction set sender = 'another'`],
] as const;

test.each(PLANTED)('%s: %s', async (name, breach) => {
  const session = await world.database.connect();
  try {
    await session.query('begin');
    await session.query(breach);
    expect((await world.findIn(session)).filter(({ what }) => what.includes(name))).not.toEqual([]);
  } finally {
    await session.end();
  }
});

test('what verify calls a surplus is compared with what strangers sent', async () => {
  const query: Query = (text, values) => world.database.query(text, values);
  const place = { merchant_id: '', network: 'erc20', currency: 'USDT' };
  const differ = (amounts: readonly bigint[]) =>
    surplusesThatDiffer(
      query,
      [...world.strangers],
      amounts.map((amount) => ({ ...place, amount })),
    );
  expect(await differ([5n])).toEqual([]);
  expect(await differ([])).toHaveLength(1);
  expect(await differ([5n, 1n])).toHaveLength(1);
});
