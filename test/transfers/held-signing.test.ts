import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import {
  addApprover,
  listApprovers,
  removeApprover,
} from '../../packages/server/src/stores/approvers/index.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { storeApproval } from '../../packages/server/src/transfers/approvals/authority.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestService } from '../service.ts';
import {
  attemptsOf,
  expectPaidOnce,
  type Item,
  moveClock,
  NETWORKS,
  newPayout,
  type Payout,
  statusOf,
  submitItems,
} from './payouts.ts';
import { GivenUp, giveUpAt, Process } from './process.ts';

const ONE: Item[] = [{ to: 'succeed', amount: '10.00' }];
const OTHER: Item[] = [{ to: 'succeed', amount: '2.50' }];
const RUNS = 6;
const HER_KEY = `0x${'ab'.repeat(32)}`;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const processOf = ({ merchant }: Payout) => new Process(service.app, merchant.merchantId);

async function runFor(process: Process, runs = RUNS): Promise<void> {
  for (let run = 0; run < runs; run++) await process.step();
}

/** Makes the jobs of a payout due, before all others of its merchant. */
const putFirst = ({ merchant, batchId }: Payout) =>
  asOwner(
    service,
    `update job set due_at_ms = case when unique_key = $2::text then 0 else extract(epoch from now()) * 1000 + 100000 end
     where merchant_id = $1`,
    [merchant.merchantId, decodeId('payoutBatch', batchId)],
  );

const holdOf = ({ merchant, batchId }: Payout) =>
  asOwner<{ reason: string }>(
    service,
    'select reason from transfer_hold where merchant_id = $1 and group_id = $2',
    [merchant.merchantId, decodeId('payoutBatch', batchId)],
  );

test.each(NETWORKS)(
  '%s: a payout that the signer holds waits, and is paid once people have acted',
  async (network) => {
    const payout = await newPayout(service, network, ONE);
    await payout.chain.holdSigning('approvals');
    await runFor(processOf(payout));
    expect(await attemptsOf(service, payout)).toEqual(['reserved']);
    expect(await statusOf(payout)).toBe('processing');
    await payout.chain.holdSigning(null);
    // Where no sequence waits behind it, the signer is left alone for a minute, and longer each time.
    if (network !== 'erc20') {
      await runFor(processOf(payout));
      expect(await attemptsOf(service, payout)).toEqual(['reserved']);
      await moveClock(service, payout, 61);
    }
    await processOf(payout).finish(network);
    expect(await attemptsOf(service, payout)).toEqual(['succeeded']);
    await expectPaidOnce(service, [payout]);
  },
);

/** A payout is held with the first sequence, and another one of the same wallet is signed behind it. */
async function holdTheFirst(): Promise<{ first: Payout; second: Payout; process: Process }> {
  const first = await newPayout(service, 'erc20', ONE);
  const process = processOf(first);
  await first.chain.holdSigning('limit');
  await runFor(process);
  expect(await attemptsOf(service, first)).toEqual(['reserved']);
  // The second one is within the limit.
  const second = await submitItems(service, first.merchant, { network: 'erc20', items: OTHER });
  await first.chain.holdSigning(null);
  while (!(await attemptsOf(service, second)).some((status) => status === 'sent')) {
    await putFirst(second);
    await process.step();
  }
  await first.chain.holdSigning('limit');
  await putFirst(first);
  return { first, second, process };
}

test('J3: what is held steps aside where another transaction waits behind it, and is not asked for at once', async () => {
  const { first, second, process } = await holdTheFirst();
  for (let run = 0; run < RUNS; run++) {
    await process.step();
    await putFirst(first);
  }
  await first.chain.mine(4);
  for (let run = 0; run < 3 * RUNS; run++) {
    await putFirst(run % 2 === 0 ? first : second);
    await process.step();
  }
  expect(await attemptsOf(service, first)).toEqual(['failed', 'succeeded']);
  expect(await statusOf(second)).toBe('completed');
  expect(await statusOf(first)).toBe('processing');
  expect(await holdOf(first)).toEqual([{ reason: 'limit' }]);
  // Nobody has acted: no further sequence is taken.
  await runFor(process);
  expect(await attemptsOf(service, first)).toHaveLength(2);
  await first.chain.holdSigning(null);
  await moveClock(service, first, 100);
  await process.finish('erc20');
  expect(await statusOf(first)).toBe('completed');
  await expectPaidOnce(service, [first, second]);
});

/** Stores an approval of a payout. */
async function approve({ merchant: { merchantId }, batchId }: Payout) {
  const id = decodeId('payoutBatch', batchId);
  const approval = { approver: 'Ann', validUntil: 2_000_000_000, signature: '0x01' };
  const { clock, db } = service.app;
  await addApprover(service.app, merchantId, 'Ann', HER_KEY);
  const approverId = (await listApprovers(service.app, merchantId)).at(-1)?.approver_id ?? '';
  const whose = { approverId, publicKey: HER_KEY, decision: 'approve', credentialId: null } as const;
  const statementDigest = createHash('sha256').update('the statement').digest();
  const now = { seconds: clock.nowSeconds(), realMs: clock.nowMs() };
  const stored = { kind: 'payout', id: String(id), ...approval, ...whose, statementDigest } as const;
  await transact(db, (tx) => storeApproval(tx, merchantId, stored, now));
  return { id, merchantId, approval };
}

test('an approval that is stored ends the pause of a transaction without a sequence', async () => {
  const payout = await newPayout(service, 'trc20', ONE);
  await payout.chain.holdSigning('approvals');
  await runFor(processOf(payout));
  await payout.chain.holdSigning(null);
  await runFor(processOf(payout));
  expect(await attemptsOf(service, payout)).toEqual(['reserved']);
  await approve(payout);
  await processOf(payout).finish('trc20');
  await expectPaidOnce(service, [payout]);
});

test('an approval that is stored ends the wait', async () => {
  const { first, second, process } = await holdTheFirst();
  await runFor(process);
  await first.chain.mine(4);
  await runFor(process);
  expect(await holdOf(first)).toHaveLength(1);
  await first.chain.holdSigning(null);
  const { id, merchantId, approval } = await approve(first);
  const { db } = service.app;
  expect(await holdOf(first)).toEqual([]);
  await process.finish('erc20');
  await expectPaidOnce(service, [first, second]);
  // What the signer is told of the batch.
  const group = { ownerType: 'payout_item', groupId: String(id) };
  expect(await service.app.findAuthority(db, merchantId, group)).toMatchObject({
    kind: 'payout',
    merchantId,
    asset: 'USDT',
    items: [{ place: 0, amount: 10_000_000n, memo: null }],
    approvals: [approval],
  });
  // Of a removed approver it is told nothing.
  await removeApprover(service.app, merchantId, 'Ann');
  expect(await service.app.findAuthority(db, merchantId, group)).toMatchObject({ approvals: [] });
});

test('J1: a process that dies anywhere while a transaction steps aside pays once', async () => {
  const dry = await holdTheFirst();
  const whole = new Process(service.app, dry.first.merchant.merchantId);
  await runFor(whole, 2);
  const payouts: Payout[] = [dry.first, dry.second];
  for (let k = 1; k <= whole.crossed.length; k += scaled(3, 6)) {
    const { first, second } = await holdTheFirst();
    const process = new Process(service.app, first.merchant.merchantId, { at: giveUpAt(k) });
    await runFor(process, 2).catch((error: unknown) => expect(error).toBeInstanceOf(GivenUp));
    payouts.push(first, second);
    const after = new Process(service.app, first.merchant.merchantId, { deadOwners: [process.owner] });
    await runFor(after);
    await first.chain.holdSigning(null);
    await moveClock(service, first, 100);
    await after.finish('erc20');
  }
  await dry.first.chain.holdSigning(null);
  await moveClock(service, dry.first, 100);
  await whole.finish('erc20');
  await expectPaidOnce(service, payouts);
}, 120_000);

test('I1: afterwards ledger and chains agree', { timeout: 150_000 }, () => expectLedgerWhole(service));
