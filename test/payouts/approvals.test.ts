import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { payoutCommands } from '../../packages/server/src/operator/payouts.ts';
import { decideApproval } from '../../packages/server/src/payouts/approvals/index.ts';
import { Fail } from '../../packages/server/src/platform/fail.ts';
import * as storeApprovers from '../../packages/server/src/stores/approvers/index.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Calls, caller, configure, draft, verdict } from './requests.ts';

let service: TestService;
let merchant: TestMerchant;
let calls: Calls;
let people: Record<'Ann' | 'Bob' | 'Cid', string>;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  merchant = await service.createMerchant();
  calls = caller(service, merchant);
  await configure(service, merchant, { approvalAbove: '10.00' });
  const register = (name: string) => storeApprovers.addApprover(service.app, merchant.merchantId, name);
  people = { Ann: await register('Ann'), Bob: await register('Bob'), Cid: await register('Cid') };
});
afterEach(() => expectLedgerWhole(service));

type Name = keyof typeof people;
/** The result of the operator's command: the state of the batch, or the code of the refusal. */
async function decide(
  what: 'approve' | 'reject',
  batch: string,
  as: string,
  token = people[as as Name],
): Promise<string> {
  try {
    const commands = payoutCommands(service.app) as unknown as Record<
      string,
      (verdict: { batch: string; as: string; token: string }) => Promise<{ status: string }>
    >;
    return (await commands[what]?.({ batch, as, token }))?.status ?? 'nothing';
  } catch (error) {
    if (error instanceof Fail) return error.code;
    return error instanceof Error && error.message.startsWith('invariant') ? 'invariant' : String(error);
  }
}
const approve = (batch: string, as: string, token?: string) => decide('approve', batch, as, token);
const reject = (batch: string, as: string, token?: string) => decide('reject', batch, as, token);

async function waiting(through: Calls = calls): Promise<string> {
  const { batch_id } = await draft(through, ['20']);
  expect(verdict(await through.submit(batch_id))).toBe('200 pending_approval');
  return batch_id;
}
const statusOf = async (batchId: string) => (await calls.read(batchId)).status;

test('one approval is enough by default, and the batch is processed', async () => {
  const batchId = await waiting();
  const before = await calls.read(batchId);
  expect(before).toMatchObject({ can_submit: false, frozen_amount: before.debit_amount });
  expect(await approve(batchId, 'Ann')).toBe('pending');
  expect(await calls.read(batchId)).toEqual({ ...before, status: 'pending' });
  expect(await approve(batchId, 'Bob')).toBe('invalid_request');
});

test('one rejection ends the batch and gives the money back', async () => {
  const before = await merchant.sdk.balances.retrieve();
  const batchId = await waiting();
  expect(await reject(batchId, 'Ann')).toBe('rejected');
  expect(await calls.read(batchId)).toMatchObject({
    status: 'rejected',
    can_submit: false,
    frozen_amount: '0.00',
  });
  expect(await merchant.sdk.balances.retrieve()).toEqual(before);
  expect((await calls.items(batchId)).map((item) => item.status)).toEqual(['canceled']);
  for (const again of [approve(batchId, 'Bob'), reject(batchId, 'Bob')]) {
    expect(await again).toBe('invalid_request');
  }
  expect(verdict(await calls.cancel(batchId))).toBe('400 invalid_request');
  expect(verdict(await calls.submit(batchId))).toBe('400 batch_cannot_submit');
});

test('a rejected batch no longer counts in the quota', async () => {
  await configure(service, merchant, { dailyQuota: '20.00' });
  const batchId = await waiting();
  const next = await draft(calls, ['20']);
  expect(verdict(await calls.submit(next.batch_id))).toBe('400 quota_blocked');
  await reject(batchId, 'Ann');
  expect(verdict(await calls.submit(next.batch_id))).toBe('200 pending_approval');
});

test('F6: two approvals need two people; the required number is that of the submit', async () => {
  await configure(service, merchant, { approvals: 2 });
  const batchId = await waiting();
  await configure(service, merchant, { approvals: 1 });
  expect(await approve(batchId, 'Ann')).toBe('pending_approval');
  expect(await approve(batchId, 'Ann')).toBe('invalid_request');
  expect(await reject(batchId, 'Ann')).toBe('invalid_request');
  expect(await statusOf(batchId)).toBe('pending_approval');
  expect(await approve(batchId, 'Bob')).toBe('pending');
});

test('F6: a removed approver cannot approve, neither waiting batches nor concurrently with the removal', async () => {
  await configure(service, merchant, { approvals: 2 });
  const batchId = await waiting();
  const approvers = await storeApprovers.listApprovers(service.app, merchant.merchantId);
  expect(await approve(batchId, 'Cid')).toBe('pending_approval');
  await storeApprovers.removeApprover(service.app, merchant.merchantId, 'Cid');
  expect(await approve(batchId, 'Ann')).toBe('pending_approval');
  await storeApprovers.removeApprover(service.app, merchant.merchantId, 'Bob');
  // Identified before, removed by the time that counts.
  const approval = {
    batchId: decodeId('payoutBatch', batchId) ?? '',
    approverId: approvers.find(({ name }) => name === 'Bob')?.approver_id ?? '',
    decision: 'approved' as const,
  };
  const actor = await stores.getMerchant(service.app.db, merchant.merchantId);
  await expect(decideApproval(service.app, actor, approval)).rejects.toMatchObject({ code: 'forbidden' });
  expect(await statusOf(batchId)).toBe('pending_approval');
  const again = await storeApprovers.addApprover(service.app, merchant.merchantId, 'Bob');
  expect(await approve(batchId, 'Bob', again)).toBe('pending');
});

test('F6: one rejection outweighs an approval', async () => {
  await configure(service, merchant, { approvals: 2 });
  const batchId = await waiting();
  expect(await approve(batchId, 'Ann')).toBe('pending_approval');
  expect(await reject(batchId, 'Bob')).toBe('rejected');
});

test('F6: the owner of the submitting key can neither approve nor reject the batch', async () => {
  const { storeId, merchantId } = merchant;
  const input = { merchantId, storeId, name: 'Ann’s', validityDays: 0, scopes: ['read', 'payouts'] };
  const key = await storeKeys.createKey(service.app, { ...input, ownerName: 'Ann' });
  const own = caller(service, { ...merchant, ...key });
  const batchId = await waiting(own);
  expect(await approve(batchId, 'Ann')).toBe('forbidden');
  expect(await reject(batchId, 'Ann')).toBe('forbidden');
  expect(await statusOf(batchId)).toBe('pending_approval');
  expect(await approve(batchId, 'Bob')).toBe('pending');
});

test('F6: the owner of the submitting key counts, not only that of the creating key', async () => {
  const { storeId, merchantId } = merchant;
  const input = { merchantId, storeId, name: 'Ann’s', validityDays: 0, scopes: ['read', 'payouts'] };
  const key = await storeKeys.createKey(service.app, { ...input, ownerName: 'Ann' });
  const { batch_id } = await draft(calls, ['20']);
  await caller(service, { ...merchant, ...key }).submit(batch_id);
  expect(await approve(batch_id, 'Ann')).toBe('forbidden');
});

test('F6: a wrong token, a wrong name, a removed person and a person of another merchant are forbidden alike', async () => {
  const batchId = await waiting();
  const other = await service.createMerchant({ funds: 0n });
  const stranger = await storeApprovers.addApprover(service.app, other.merchantId, 'Eve');
  await storeApprovers.removeApprover(service.app, merchant.merchantId, 'Cid');
  const said = [
    await approve(batchId, 'Ann', 'fla_wrong'),
    await approve(batchId, 'Ann', ''),
    await approve(batchId, 'Ann', people.Bob),
    await approve(batchId, 'Nobody', people.Ann),
    await approve(batchId, 'Cid'),
    await approve(batchId, 'Eve', stranger),
    await approve(batchId, 'Ann', stranger),
  ];
  expect(said).toEqual(said.map(() => 'forbidden'));
  expect(await statusOf(batchId)).toBe('pending_approval');
});

test('a decision is refused in every other state, and for an unknown batch', async () => {
  const { batch_id } = await draft(calls, ['20']);
  expect(await approve(batch_id, 'Ann')).toBe('invalid_request');
  await calls.cancel(batch_id);
  expect(await approve(batch_id, 'Ann')).toBe('invalid_request');
  const small = await draft(calls, ['1']);
  await calls.submit(small.batch_id);
  expect(await reject(small.batch_id, 'Ann')).toBe('invalid_request');
  expect(await approve('pb_nothing', 'Ann')).toBe('resource_not_found');
});

const TAMPERING: [string, string][] = [
  [
    'a recipient',
    `update payout_item set address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' where batch_id = $1`,
  ],
  ['an amount', 'update payout_item set amount = amount + 10000 where batch_id = $1'],
  ['a fee', 'update payout_item set service_fee_amount = 0 where batch_id = $1'],
  ['a memo', `update payout_item set memo = 'x' where batch_id = $1`],
  ['a network', `update payout_item set network = 'trc20' where batch_id = $1`],
  ['the currency of the batch', `update payout_batch set currency = 'USDC' where batch_id = $1`],
  ['the digest itself', `update payout_batch set items_digest = sha256('x') where batch_id = $1`],
  [
    'a further item',
    `insert into payout_item select merchant_id, batch_id, 1, gen_random_uuid(), real_name, network, address,
     memo, amount, service_fee_amount, status, validation_errors, null, null, null, created_at, null
     from payout_item where batch_id = $1`,
  ],
];

/** Puts the rows back as they were, so that the books can be checked. */
async function restored(batchId: string, tamper: string, during: () => Promise<void>): Promise<void> {
  const id = decodeId('payoutBatch', batchId);
  const rows = async (table: string) =>
    asOwner<{ row: object }>(service, `select to_jsonb(t) as row from ${table} t where batch_id = $1`, [id]);
  const [batches, items] = [await rows('payout_batch'), await rows('payout_item')];
  await asOwner(service, tamper, [id]);
  await during();
  for (const [table, kept] of [
    ['payout_batch', batches],
    ['payout_item', items],
  ] as const) {
    const values = JSON.stringify(kept.map(({ row }) => row));
    await asOwner(service, `delete from ${table} where batch_id = $1`, [id]);
    await asOwner(
      service,
      `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`,
      [values],
    );
  }
}

test.each(TAMPERING)(
  'F6: after %s was changed in the database nobody can approve, and nothing is sent',
  async (_what, tamper) => {
    const batchId = await waiting();
    await restored(batchId, tamper, async () => {
      expect(await approve(batchId, 'Ann')).toBe('invariant');
      const [{ status } = {}] = await asOwner<{ status: string }>(
        service,
        'select status from payout_batch where batch_id = $1',
        [decodeId('payoutBatch', batchId)],
      );
      expect(status).toBe('pending_approval');
    });
    expect(await approve(batchId, 'Ann')).toBe('pending');
  },
);

test('fault 63: items changed after they were approved are not sent', async () => {
  const batchId = await waiting();
  expect(await approve(batchId, 'Ann')).toBe('pending');
  const [, recipient = ''] = TAMPERING[0] ?? [];
  await restored(batchId, recipient, async () => {
    const worker = await service.startWorker();
    const job = () =>
      asOwner<{ attempts: number; last_error: string }>(
        service,
        `select attempts, last_error from job where kind = 'payouts.process' and unique_key = $1`,
        [decodeId('payoutBatch', batchId)],
      );
    await expect.poll(async () => (await job())[0]?.attempts ?? 0, { timeout: 60_000 }).toBeGreaterThan(0);
    expect((await job())[0]?.last_error).toContain('the items are those that were submitted');
    expect(
      await asOwner(service, 'select from transfer where group_id = $1', [decodeId('payoutBatch', batchId)]),
    ).toEqual([]);
    await worker.stop(5_000);
  });
  expect(await statusOf(batchId)).toBe('pending');
  expect(verdict(await calls.cancel(batchId))).toBe('200 canceled');
});

test('undecided for seven days: rejected and released; decided in time: the expiry does nothing', async () => {
  const before = await merchant.sdk.balances.retrieve();
  const batchId = await waiting();
  const dueIn = await asOwner<{ days: number }>(
    service,
    `select (due_at_ms - extract(epoch from now()) * 1000)::float8 / 86400000 as days from job
     where kind = 'payouts.expire-approval' and unique_key = $1`,
    [decodeId('payoutBatch', batchId)],
  );
  expect(dueIn[0]?.days).toBeCloseTo(7, 2);
  // Approved, and canceled again before the worker comes: its expiry finds nothing to reject.
  const answered = await waiting();
  await approve(answered, 'Ann');
  await calls.cancel(answered);
  await asOwner(service, `update job set due_at_ms = 0 where kind = 'payouts.expire-approval'`);
  const worker = await service.startWorker();
  await expect.poll(() => statusOf(batchId), { timeout: 60_000 }).toBe('rejected');
  await expect
    .poll(
      async () => (await asOwner(service, `select from job where kind = 'payouts.expire-approval'`)).length,
    )
    .toBe(0);
  await worker.stop(5_000);
  expect(await statusOf(answered)).toBe('canceled');
  expect(await merchant.sdk.balances.retrieve()).toEqual(before);
});

test('fault 60: concurrent approve, reject and cancel: one of them wins, and the money agrees with it', async () => {
  for (let round = 0; round < scaled(100, 6); round++) {
    const batchId = await waiting();
    const [approved, rejected, canceled] = await Promise.all([
      approve(batchId, 'Ann'),
      reject(batchId, 'Bob'),
      calls.cancel(batchId).then(verdict),
    ]);
    const last = await statusOf(batchId);
    // A cancel may follow an approval, as the batch is then pending; no other two may follow each other.
    const allowed = {
      rejected: ['invalid_request', 'rejected', '400 invalid_request'],
      canceled: ['invalid_request', 'invalid_request', '200 canceled'],
      pending: ['pending', 'invalid_request', '400 invalid_request'],
    }[last as 'rejected'];
    if (last === 'canceled' && approved === 'pending') {
      expect([rejected, canceled]).toEqual(['invalid_request', '200 canceled']);
    } else expect([approved, rejected, canceled]).toEqual(allowed);
  }
});

test('fault 60: the last approval counts once, however many are given concurrently', async () => {
  for (let round = 0; round < scaled(100, 4); round++) {
    const batchId = await waiting();
    const said = await Promise.all(
      (['Ann', 'Bob', 'Cid', 'Ann', 'Bob', 'Cid'] as const).map((name) => approve(batchId, name)),
    );
    expect(said.sort()).toEqual([...Array.from({ length: 5 }, () => 'invalid_request'), 'pending']);
    const jobs = await asOwner(
      service,
      `select from job where kind = 'payouts.process' and unique_key = $1`,
      [decodeId('payoutBatch', batchId)],
    );
    expect(jobs.length).toBe(1);
  }
});
