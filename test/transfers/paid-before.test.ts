import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditOnce, operatorsOf } from '../custody/audits.ts';
import { resume } from '../custody/lost.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { startService, type TestService } from '../service.ts';
import { expectPaidOnce, type Item, newPayout, type Payout } from './payouts.ts';
import { Process } from './process.ts';

// A node, or two that lie alike, called a transaction dead that is mined after all. The chain pays each place of a batch
// once, so the next attempt moves nothing and says so.

const NETWORK = 'erc20';
const ITEMS: Item[] = [
  { to: 'succeed', amount: '10.00' },
  { to: 'succeed', amount: '2.50' },
];

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

interface Lied extends Payout {
  process: Process;
  /** Of the attempt that was called dead. */
  first: string;
}

/** A payout whose first attempt is sent, and called dead. */
async function callDead(): Promise<Lied> {
  const payout = await newPayout(service, NETWORK, ITEMS);
  const { merchantId } = payout.merchant;
  const process = new Process(service.app, merchantId);
  while ((await statuses(merchantId)).every(({ status }) => status !== 'sent')) await process.step();
  const [attempt] = await statuses(merchantId);
  await asOwner(
    service,
    `with over as (
       update transfer_attempt set status = 'dead', completed_at = created_at where merchant_id = $1
     )
     update transfer set status = 'queued', attempt_id = null where merchant_id = $1`,
    [merchantId],
  );
  await payout.chain.mine(4);
  return { ...payout, process, first: attempt?.tx_id ?? '' };
}

const statuses = (merchantId: string) =>
  asOwner<{ status: string; tx_id: string }>(
    service,
    'select status, tx_id from transfer_attempt where merchant_id = $1 order by attempt_id',
    [merchantId],
  );

async function paidBy({ merchant, batchId }: Payout): Promise<(string | null)[]> {
  const { data } = await merchant.sdk.payouts.items(batchId).page();
  return data.map((item) => (item.status === 'succeeded' ? item.tx_id : item.status));
}

test('J2: an item that was paid by an attempt called dead is booked as paid by it, once', async () => {
  const lied = await callDead();
  await lied.process.finish(NETWORK);
  expect((await statuses(lied.merchant.merchantId)).map(({ status }) => status)).toEqual([
    'dead',
    'succeeded',
  ]);
  expect(await paidBy(lied)).toEqual([lied.first, lied.first]);
  await expectPaidOnce(service, [lied]);
});

test('J2: where the earlier transaction is unknown here, the one that reported it stands for it', async () => {
  const lied = await callDead();
  const { merchantId } = lied.merchant;
  await asOwner(service, 'delete from transfer_attempt where merchant_id = $1', [merchantId]);
  await lied.process.finish(NETWORK);
  const [second] = await statuses(merchantId);
  expect(await paidBy(lied)).toEqual([second?.tx_id, second?.tx_id]);
  await expectPaidOnce(service, [lied]);
  await auditOnce(service, merchantId, NETWORK);
  expect(await paidBy(lied)).toEqual([second?.tx_id, second?.tx_id]);
  expect(await operatorsOf(service, merchantId)).toEqual({});
});

test('J2: what an audit booked as the operator’s loss meanwhile is taken back', async () => {
  const lied = await callDead();
  const { merchantId } = lied.merchant;
  await asOwner(
    service,
    `update transfer_attempt set height = (select max(height) from simchain.transaction where merchant_id = $1)
     where merchant_id = $1`,
    [merchantId],
  );
  // The next attempt carries the transfers when the audit comes.
  while ((await statuses(merchantId)).length < 2) await lied.process.step();
  await auditOnce(service, merchantId, NETWORK);
  expect(await operatorsOf(service, merchantId)).toMatchObject({ 'reorg_loss:erc20': 12_500_000n });
  await resume(service, lied.merchant, NETWORK);
  await lied.process.finish(NETWORK);
  expect(await operatorsOf(service, merchantId)).toEqual({});
  await auditOnce(service, merchantId, NETWORK);
  expect(await operatorsOf(service, merchantId)).toEqual({});
  expect(await paidBy(lied)).toEqual([lied.first, lied.first]);
  await expectPaidOnce(service, [lied]);
});

test('I1: afterwards ledger and chains agree', { timeout: 150_000 }, () => expectLedgerWhole(service));
