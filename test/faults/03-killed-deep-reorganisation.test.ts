import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { type Finished, florin } from '../florin-command.ts';
import { LEDGER_CHECKS } from '../ledger-checks.ts';
import { settleBooks } from './seeded-operator.ts';
import { NETWORKS, type Network, World } from './world.ts';

// A reorganisation deeper than finality, and a process that dies as it writes down what follows of it.

const POLL = { timeout: 60_000, interval: 200 };
const BLOCKS_TO_FINAL = 20;
/** Deeper than any payout of a test lies by the time that it is over; the funds lie deeper. */
const DEPTH = 200;
const BLOCKS_TO_EXPIRY = 250;
/** Broadcasts that nobody gets. */
const ALL = 1_000;

let world: World;

beforeAll(async () => {
  world = await World.open({ servers: 1, workers: 1 });
  for (const network of NETWORKS) await world.controlChain(network, { mine: 2 * DEPTH });
}, 120_000);
afterAll(() => world?.close());

const query = <Row extends object>(text: string) => world.database.query<Row>(text);

/** What waits for its time is due now. */
const makeDue = () =>
  query(
    `with due as (update job set due_at_ms = 0 where lease_owner is null and kind in ('custody.audit', 'transfers.send')
       returning merchant_id)
     select pg_notify('florin_job', merchant_id::text) from due`,
  );

async function payOut(network: Network, to: 'succeed' | 'fail' = 'succeed'): Promise<string> {
  const { merchant } = world;
  const batchId = await merchant.create(world.items(network, 1, { to }));
  await merchant.submit(batchId);
  const isOver = async () => {
    await world.controlChain(network, { mine: BLOCKS_TO_FINAL });
    await makeDue();
    return ['completed', 'failed'].includes(
      String((await merchant.insist('GET', `/payout-batches/${batchId}`)).status),
    );
  };
  await expect.poll(isOver, POLL).toBe(true);
  return batchId;
}

/** All that was paid lately is in no block any more. */
const takeBlocks = (network: Network, order: object = {}) =>
  world.controlChain(network, { reorg: DEPTH, ...order });

/** The worker finds all that was paid lately in no block any more, and dies there. */
async function dieAt(crashPoint: string, network: Network): Promise<void> {
  await world.worker.kill();
  await takeBlocks(network);
  await world.worker.start({ crashPoint });
  const hasDied = async () => {
    await makeDue();
    return world.worker.isUp;
  };
  await expect.poll(hasDied, POLL).toBe(false);
  expect(await world.worker.ended).toEqual({ signal: 'SIGKILL', code: null });
}

const stops = () => query<{ reason: string }>('select reason from network_stop');
const replacedBlocks = () => query('select from final_block where replaced_at is not null');
const gone = () => query(`select from transfer_attempt where gone_at is not null and network = 'trc20'`);

/** The worker goes on, people let the networks go on, and books, chains and every entry agree. */
async function expectWhole(): Promise<void> {
  await world.heal();
  await makeDue();
  expect(await settleBooks(world)).toEqual([]);
  for (const [check, text] of Object.entries(LEDGER_CHECKS))
    expect([check, await world.database.query(text)]).toEqual([check, []]);
}

test('fault 3: killed while recording replaced final blocks: nothing is recorded, the next scan stops the network', async () => {
  await payOut('erc20');
  await dieAt('final-blocks.before-commit', 'erc20');
  expect([await replacedBlocks(), await stops()]).toEqual([[], []]);
  await world.worker.start();
  await makeDue();
  await expect.poll(stops, POLL).toHaveLength(1);
  await expectWhole();
}, 120_000);

test('fault 3: killed as it notes that a payout has left its block: the payout is paid once, by the same bytes', async () => {
  const batchId = await payOut('trc20');
  await dieAt('recheck.before-commit', 'trc20');
  expect(await gone()).toEqual([]);
  await world.worker.start();
  await makeDue();
  await expect.poll(gone, POLL).toHaveLength(1);
  await world.controlChain('trc20', { mine: BLOCKS_TO_FINAL });
  await expectWhole();
  expect(await world.merchant.insist('GET', `/payout-batches/${batchId}`)).toMatchObject({
    success_count: 1,
  });
}, 120_000);

test('fault 3: killed as it stores the payment that takes a freed sequence: it is signed once, and later payouts go on', async () => {
  await payOut('erc20', 'fail');
  await dieAt('gap.before-commit', 'erc20');
  const gaps = () =>
    query<{ gap_ordinal: string; gap_raw: string | null }>(
      'select gap_ordinal::text, gap_raw from transfer_attempt where gap_ordinal is not null',
    );
  // Its number was taken before anybody signed it, and stays.
  const [before, ...others] = await gaps();
  expect([before?.gap_raw, others]).toEqual([null, []]);
  await world.worker.start();
  await makeDue();
  await expect.poll(async () => (await gaps())[0]?.gap_raw, POLL).toEqual(expect.any(String));
  expect(await gaps()).toMatchObject([{ gap_ordinal: before?.gap_ordinal }]);
  await expectWhole();
  await payOut('erc20');
}, 120_000);

/** The bytes of all that was paid on spl are dead by the time that anybody gets them. */
async function loseForGood(table: 'payout_item' | 'refund'): Promise<void> {
  await takeBlocks('spl', { drop_next: ALL });
  const isLost = async () => {
    await makeDue();
    await world.controlChain('spl', { mine: BLOCKS_TO_EXPIRY });
    return (await query(`select from ${table} where lost_at is not null and status = 'succeeded'`)).length;
  };
  await expect.poll(isLost, POLL).toBeGreaterThan(0);
  await world.controlChain('spl', { drop_next: 1 });
}

/** The second person's decision, in a process of its own that may die on the way. */
async function decide(words: readonly string[], crashPoint?: string): Promise<Finished> {
  const dying = crashPoint === undefined ? {} : { FLORIN_TEST_BUILD: '1', FLORIN_CRASH_POINT: crashPoint };
  const [, second] = world.approvers;
  const env = { ...world.operatorEnv, FLORIN_APPROVER_TOKEN: second.token, ...dying };
  return await florin([...words, '--as', second.as, '--json'], { env });
}

const transfersOf = (ownerType: string) =>
  query<{ status: string }>(
    `select status from transfer where owner_type = '${ownerType}' and network = 'spl' order by transfer_id`,
  );

test('fault 3: killed as the second person has a lost payout paid anew: nothing is decided; repeated, it is done once', async () => {
  const batchId = await payOut('spl');
  await loseForGood('payout_item');
  const { data } = await world.merchant.insist('GET', `/payout-batches/${batchId}/items`);
  const [item] = data as { item_id: string }[];
  const id = item?.item_id ?? '';
  const [first] = world.approvers;
  await world.operate(({ payouts }) => payouts.repay({ item: id, ...first }));
  const words = ['payouts', 'repay', id];
  expect(await decide(words, 'payouts-lost.before-commit')).toMatchObject({ code: null, stdout: '' });
  expect(await transfersOf('payout_item')).toEqual([{ status: 'succeeded' }]);
  expect(JSON.parse((await decide(words)).stdout)).toMatchObject({ agreed: 2, done: true });
  expect((await decide(words)).code).toBe(1);
  expect(await transfersOf('payout_item')).toHaveLength(2);
  await expectWhole();
}, 180_000);

test('fault 3: killed as the second person has a lost refund given back: nothing is decided; repeated, it is done once', async () => {
  const { merchant } = world;
  const session = await merchant.openSession(50_000_000);
  await merchant.insist('POST', `/test_helpers/checkout/sessions/${session}/pay`, {
    currency: 'USDT',
    network: 'spl',
  });
  await world.controlChain('spl', { mine: BLOCKS_TO_FINAL });
  await merchant.refund(session, world.items('spl', 1)[0]?.address ?? '');
  const statusOf = async () => {
    await world.controlChain('spl', { mine: BLOCKS_TO_FINAL });
    await makeDue();
    return (await query<{ status: string; own_id: string }>('select status, own_id from refund'))[0];
  };
  await expect.poll(async () => (await statusOf())?.status, POLL).toBe('succeeded');
  const refundId = (await statusOf())?.own_id ?? '';
  await loseForGood('refund');
  const [first] = world.approvers;
  const named = { refund: refundId, merchant: encodeId('merchant', merchant.merchantId) };
  await world.operate(({ refunds }) => refunds.giveBack({ ...named, ...first }));
  const words = ['refunds', 'give-back', refundId, '--merchant', named.merchant];
  expect(await decide(words, 'refunds-lost.before-commit')).toMatchObject({ code: null, stdout: '' });
  expect((await statusOf())?.status).toBe('succeeded');
  expect(JSON.parse((await decide(words)).stdout)).toMatchObject({ agreed: 2, done: true });
  expect((await decide(words)).code).toBe(1);
  expect((await statusOf())?.status).toBe('failed');
  await expectWhole();
}, 180_000);

test('fault 3: after all of it nothing is lost or double', async () => {
  expect(await world.judge()).toEqual([]);
}, 150_000);
