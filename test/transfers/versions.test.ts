import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { share } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import { attemptsOf, expectPaidOnce, finishAll, moveClock, newPayout, type Payout } from './payouts.ts';
import { GivenUp, giveUpAt, inParallel, Process, type ProcessOptions } from './process.ts';

// Fees rise between the signature and the block: no block takes the transaction, until a version of it offers more.

const NETWORK = 'erc20';
/** Wei: above what any transaction of these tests costs. */
const FLOOR = 10n ** 17n;
const LATER = 130;
/** Crossings of a payout whose transaction is replaced. */

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

interface Stuck extends Payout {
  process: Process;
}

/** Its transaction waits in the mempool, for two minutes by now. */
async function stick(options: ProcessOptions = {}): Promise<Stuck> {
  const payout = await newPayout(service, NETWORK);
  const { merchantId } = payout.merchant;
  const before = new Process(service.app, merchantId, {
    at: ({ name }) => (name === 'before broadcast' ? payout.chain.feeFloor(FLOOR) : undefined),
  });
  while (!(await attemptsOf(service, payout)).includes('sent')) await before.step();
  await moveClock(service, payout, LATER);
  return { ...payout, process: new Process(service.app, merchantId, options) };
}

interface Version {
  number: number;
  tx_id: string;
  is_own: boolean;
}

const versionsOf = ({ merchant }: Payout) =>
  asOwner<Version>(
    service,
    `select v.number, v.tx_id, v.tx_id = a.tx_id as is_own from transfer_version v
     join transfer_attempt a using (merchant_id, attempt_id) where v.merchant_id = $1 order by v.number`,
    [merchant.merchantId],
  );

/** The transactions that paid, by the items. */
async function paidBy({ merchant, batchId }: Payout): Promise<Set<string>> {
  const { data } = await merchant.sdk.payouts.items(batchId).page();
  return new Set(data.flatMap((item) => (item.status === 'succeeded' ? [item.tx_id ?? ''] : [])));
}

test('J4: a transaction that no block takes is replaced for a higher fee, and paid once', async () => {
  const stuck = await stick();
  await stuck.process.finish(NETWORK);
  const versions = await versionsOf(stuck);
  expect(versions.map(({ is_own: isOwn }) => isOwn)).toEqual([false, true]);
  expect(await paidBy(stuck)).toEqual(new Set([versions[1]?.tx_id]));
  expect(await attemptsOf(service, stuck)).toEqual(['succeeded']);
  const [fees] = await asOwner<{ spent: string; limit: string }>(
    service,
    'select fee_native::text as spent, fee_limit::text as limit from transfer_attempt where merchant_id = $1',
    [stuck.merchant.merchantId],
  );
  expect(fees).toEqual({ spent: String(FLOOR), limit: String(FLOOR) });
  await expectPaidOnce(service, [stuck]);
});

test('J4: the first version may be mined after all, though another was signed: it is booked', async () => {
  const stuck = await stick();
  await stuck.chain.dropNext(1);
  while ((await versionsOf(stuck)).length === 0) await stuck.process.step();
  await stuck.chain.feeFloor(0n);
  await stuck.chain.mine(4);
  await stuck.process.finish(NETWORK);
  const versions = await versionsOf(stuck);
  expect(versions.map(({ is_own: isOwn }) => isOwn)).toEqual([true, false]);
  expect(await paidBy(stuck)).toEqual(new Set([versions[0]?.tx_id]));
  await expectPaidOnce(service, [stuck]);
});

test('a transaction is not replaced before its time, nor where fees have not risen', async () => {
  const payout = await newPayout(service, NETWORK, [{ to: 'stuck', amount: '3.00' }]);
  const process = new Process(service.app, payout.merchant.merchantId);
  while (!(await attemptsOf(service, payout)).includes('sent')) await process.step();
  await moveClock(service, payout, LATER);
  for (let run = 0; run < 3; run++) await process.step();
  expect(await versionsOf(payout)).toEqual([]);
  await moveClock(service, payout, 3_600);
  await process.finish(NETWORK);
  await expectPaidOnce(service, [payout]);
});

test('J1, J4: a process that dies anywhere while it replaces a transaction pays once', async () => {
  const whole = await stick();
  await whole.process.finish(NETWORK);
  const { crossed, places } = whole.process;
  expect(crossed.filter((name) => name === 'before build')).toHaveLength(1);
  const payouts = await inParallel(share(places, 0, 2), async (k) => {
    const stuck = await stick({ at: giveUpAt(k) });
    await expect(stuck.process.finish(NETWORK)).rejects.toThrow(GivenUp);
    return stuck;
  });
  const worker = await service.startWorker();
  try {
    await finishAll(service, payouts, 60_000);
    await expectPaidOnce(service, payouts);
  } finally {
    await worker.stop(1_000);
  }
}, 120_000);

test('I1: afterwards ledger and chains agree', { timeout: 150_000 }, () => expectLedgerWhole(service));
