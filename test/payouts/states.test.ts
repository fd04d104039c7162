import { randomUUID } from 'node:crypto';
import { NETWORKS, type Network, parseNonNegativeAmount } from '@florin/contract/money';
import type { PayoutBatch, PayoutBatchStatus } from '@florin/contract/schemas';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { payoutCommands } from '../../packages/server/src/operator/payouts.ts';
import { Fail } from '../../packages/server/src/platform/fail.ts';
import { addApprover } from '../../packages/server/src/stores/approvers/index.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { asOwner, expectLedgerWhole } from '../ledger.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Calls, caller, configure, TO } from './requests.ts';

/** The moves of docs/payouts.md, written down without the product's table. */
const MAY_FOLLOW: Record<PayoutBatchStatus, PayoutBatchStatus[]> = {
  draft: ['draft', 'needs_fix', 'pending_approval', 'pending', 'canceled'],
  needs_fix: ['needs_fix', 'pending_approval', 'pending', 'canceled'],
  pending_approval: ['pending', 'rejected', 'canceled'],
  pending: ['processing', 'canceled'],
  processing: ['processing', 'completed', 'partially_completed', 'failed'],
  completed: [],
  partially_completed: [],
  failed: [],
  canceled: [],
  rejected: [],
};
const RESTING = new Set<PayoutBatchStatus>(['draft', 'needs_fix', 'pending_approval']);
const EDITABLE = new Set<PayoutBatchStatus>(['draft', 'needs_fix']);
const units = parseNonNegativeAmount;

let service: TestService;
let merchant: TestMerchant;
let calls: Calls;
let tokens: Record<string, string>;

beforeAll(async () => {
  service = await startService({ worker: true });
  merchant = await service.createMerchant();
  calls = caller(service, merchant);
  await configure(service, merchant, { approvalAbove: '8.00', approvals: 1 });
  tokens = {
    Ann: await addApprover(service.app, merchant.merchantId, 'Ann'),
    Bob: await addApprover(service.app, merchant.merchantId, 'Bob'),
  };
});
afterAll(() => service.stop());

type Kind = 'succeed' | 'fail' | 'risk_rejected' | 'nowhere';
interface AnyItem {
  kind: Kind;
  amount: number;
}
type Command =
  | { do: 'put'; place: number; item: AnyItem }
  | { do: 'drop'; place: number }
  | { do: 'submit' | 'cancel' | 'expire' | 'pause' }
  | { do: 'approve' | 'reject'; as: 'Ann' | 'Bob' };
interface Story {
  network: Network;
  items: AnyItem[];
  commands: Command[];
}

const item: fc.Arbitrary<AnyItem> = fc.record({
  kind: fc.constantFrom<Kind[]>('succeed', 'succeed', 'succeed', 'fail', 'risk_rejected', 'nowhere'),
  amount: fc.integer({ min: 1, max: 9 }),
});
const place = fc.nat(3);
const as = fc.constantFrom('Ann' as const, 'Bob' as const);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('submit' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('put' as const), place, item }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('approve' as const), as }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('expire' as const, 'pause' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reject' as const), as }) },
);
const story: fc.Arbitrary<Story> = fc.record({
  network: fc.constantFrom(...NETWORKS),
  items: fc.array(item, { minLength: 1, maxLength: 4 }),
  commands: fc.array(command, { minLength: 1, maxLength: 8, size: 'max' }),
});

const inputOf = (network: Network, { kind, amount }: AnyItem) => ({
  network,
  address: kind === 'nowhere' ? kind : TO[network][kind],
  amount: `${amount}.${amount}0`,
});

async function perform(batchId: string, network: Network, one: Command): Promise<void> {
  if (one.do === 'submit') await calls.submit(batchId);
  if (one.do === 'cancel') await calls.cancel(batchId);
  if (one.do === 'put' || one.do === 'drop') {
    const known = await calls.items(batchId);
    const path = `/payout-batches/${batchId}/items/${known[one.place % known.length]?.item_id}`;
    if (one.do === 'drop') await calls.call(path, { method: 'DELETE' });
    else await calls.call(path, { method: 'PUT', body: JSON.stringify(inputOf(network, one.item)) });
  }
  if (one.do === 'approve' || one.do === 'reject') {
    const decide = payoutCommands(service.app)[one.do];
    await decide({ batch: batchId, as: one.as, token: tokens[one.as] ?? '' }).catch((error: unknown) => {
      if (!(error instanceof Fail)) throw error;
    });
  }
  if (one.do === 'expire') {
    await asOwner(
      service,
      `update job set due_at_ms = 0 where kind = 'payouts.expire-approval' and unique_key = $1`,
      [decodeId('payoutBatch', batchId)],
    );
  }
  if (one.do === 'pause') await new Promise((resolve) => setTimeout(resolve, 300));
}

/** Every committed state of the batch in order, from its events. */
async function historyOf(batchId: string): Promise<PayoutBatch[]> {
  const rows = await asOwner<{ body: string }>(
    service,
    'select body from event where resource = $1 order by sequence',
    [batchId],
  );
  return rows.map(({ body }) => JSON.parse(body).data.object);
}

function expectStateWhole(batch: PayoutBatch): void {
  expect(batch.valid_count + batch.invalid_count).toBe(batch.total_count);
  expect('can_submit' in batch).toBe(batch.status !== 'canceled');
  if (batch.status !== 'canceled') {
    expect(batch.can_submit).toBe(EDITABLE.has(batch.status) && batch.invalid_count === 0);
  }
  expect(batch.validation_errors.length > 0).toBe(batch.invalid_count > 0);
  const amounts = [batch.total_amount, batch.service_fee_amount, batch.debit_amount, batch.frozen_amount];
  for (const text of [...amounts, batch.charged_service_fee_amount]) expect(text).toMatch(/^\d+\.\d\d$/);
  expect(units(batch.debit_amount)).toBe(units(batch.total_amount) + units(batch.service_fee_amount));
  const wasSubmitted = batch.submitted_at !== null;
  if (EDITABLE.has(batch.status)) expect(wasSubmitted).toBe(false);
  else if (batch.status !== 'canceled') expect(wasSubmitted).toBe(true);
  const isOver = ['completed', 'partially_completed', 'failed'].includes(batch.status);
  expect(batch.completed_at !== null).toBe(isOver);
  if (['pending', 'pending_approval'].includes(batch.status))
    expect(batch.frozen_amount).toBe(batch.debit_amount);
  if (isOver || ['canceled', 'rejected'].includes(batch.status)) expect(batch.frozen_amount).toBe('0.00');
  if (isOver) expect(batch.success_count + batch.failed_count).toBe(batch.total_count);
}

/** Fields that never change after a submit. */
const FIXED = [
  'batch_id',
  'currency',
  'network',
  'total_count',
  'valid_count',
  'invalid_count',
  'total_amount',
  'service_fee_amount',
  'debit_amount',
  'validation_errors',
  'description',
  'created_at',
  'submitted_at',
] as const;

function expectHistoryAllowed(history: PayoutBatch[]): void {
  expect(history[0]?.status).toBe('draft');
  for (const [i, batch] of history.entries()) {
    expectStateWhole(batch);
    const next = history[i + 1];
    if (next === undefined) continue;
    expect(MAY_FOLLOW[batch.status], `${batch.status} → ${next.status}`).toContain(next.status);
    if (batch.submitted_at === null) continue;
    for (const field of FIXED) expect(next[field]).toEqual(batch[field]);
    expect(units(next.charged_service_fee_amount)).toBeGreaterThanOrEqual(
      units(batch.charged_service_fee_amount),
    );
    expect(units(next.frozen_amount)).toBeLessThanOrEqual(units(batch.frozen_amount));
  }
}

/** debit = frozen + paid out + charged + released, from what the items say. */
async function expectItemsAgree(batch: PayoutBatch, indexes: Set<number>): Promise<void> {
  const items = await calls.items(batch.batch_id);
  for (const one of items) expect(indexes.has(one.index)).toBe(true);
  if (batch.submitted_at === null) return;
  const sum = (list: typeof items) =>
    list.reduce((total, one) => total + units(one.amount) + units(one.service_fee_amount), 0n);
  const withStatus = (...statuses: string[]) => items.filter((one) => statuses.includes(one.status));
  const paid = withStatus('succeeded');
  const charged = paid.reduce((total, one) => total + units(one.service_fee_amount), 0n);
  expect(units(batch.charged_service_fee_amount)).toBe(charged);
  expect(units(batch.frozen_amount)).toBe(sum(withStatus('queued', 'processing')));
  const released = sum(withStatus('failed', 'canceled'));
  expect(units(batch.debit_amount)).toBe(units(batch.frozen_amount) + sum(paid) + released);
  expect([paid.length, withStatus('failed').length]).toEqual([batch.success_count, batch.failed_count]);
  for (const one of paid) {
    expect(one).toMatchObject({
      tx_id: expect.any(String),
      failure_code: null,
      completed_at: expect.any(Number),
    });
  }
  for (const one of withStatus('failed')) expect(one.failure_code).not.toBeNull();
}

/** An expiry that a story asked for is still under way; nothing else moves a batch that waits for people. */
async function isExpiring(batchId: string): Promise<boolean> {
  const jobs = await asOwner(
    service,
    `select from job where kind = 'payouts.expire-approval' and unique_key = $1 and due_at_ms = 0`,
    [decodeId('payoutBatch', batchId)],
  );
  return jobs.length > 0;
}

async function tell({ network, items, commands }: Story): Promise<PayoutBatchStatus[]> {
  const body = { currency: 'USDT', items: items.map((one) => inputOf(network, one)) };
  const created = await calls.create(body, randomUUID());
  const batchId = String(created.json.batch_id);
  const indexes = new Set((await calls.items(batchId)).map((one) => one.index));
  for (const one of commands) await perform(batchId, network, one);
  const chain = service.app.chains.sandbox(merchant.merchantId, network);
  const isQuiet = async () => {
    const { status } = await calls.read(batchId);
    if (status === 'processing') await chain.mine(1);
    return MAY_FOLLOW[status].length === 0 || (RESTING.has(status) && !(await isExpiring(batchId)));
  };
  await expect.poll(isQuiet, { timeout: 25_000, interval: 200 }).toBe(true);
  const history = await historyOf(batchId);
  expectHistoryAllowed(history);
  const last = history.at(-1) as PayoutBatch;
  const now = await calls.read(batchId);
  expect(now).toEqual(last);
  await expectItemsAgree(now, indexes);
  return history.map((batch) => batch.status);
}

test(
  'I7, fault 59: no sequence of commands leaves the table of moves, and the money adds up in every state',
  async () => {
    // Few random stories of a short run get this far.
    const paid: Story = {
      network: 'erc20',
      items: [{ kind: 'succeed', amount: 1 }],
      commands: [{ do: 'submit' }],
    };
    const seen = new Set<PayoutBatchStatus>(await tell(paid));
    const property = fc.asyncProperty(
      fc.array(story, { minLength: scaled(40, 20), maxLength: scaled(40, 20), size: 'max' }),
      async (stories) => {
        // All at once: each batch is a story of its own, and together they race for the worker and the balance.
        const histories = await Promise.all(stories.map(tell));
        for (const status of histories.flat()) seen.add(status);
        await expectLedgerWhole(service);
      },
    );
    await fc.assert(property, { numRuns: scaled(50, 2), endOnFailure: true });
    expect([...seen]).toEqual(
      expect.arrayContaining(['draft', 'needs_fix', 'pending', 'processing', 'canceled']),
    );
  },
  scaled(1_800_000, 120_000),
);

test('I7: a final state never changes, whatever the command', async () => {
  const endings: Record<string, AnyItem['kind'][]> = {
    completed: ['succeed'],
    partially_completed: ['succeed', 'fail'],
    failed: ['fail'],
  };
  await Promise.all(
    Object.entries(endings).map(async ([ending, kinds]) => {
      const body = { currency: 'USDT', items: kinds.map((kind) => inputOf('erc20', { kind, amount: 1 })) };
      const batchId = String((await calls.create(body)).json.batch_id);
      await calls.submit(batchId);
      const chain = service.app.chains.sandbox(merchant.merchantId, 'erc20');
      const status = async () => {
        const batch = await calls.read(batchId);
        if (batch.status === 'processing') await chain.mine(1);
        return batch.status;
      };
      await expect.poll(status, { timeout: 20_000, interval: 200 }).toBe(ending);
      const batch = await calls.read(batchId);
      const items = await calls.items(batchId);
      const commands: Command[] = [
        { do: 'submit' },
        { do: 'cancel' },
        { do: 'approve', as: 'Ann' },
        { do: 'reject', as: 'Bob' },
        { do: 'put', place: 0, item: { kind: 'succeed', amount: 2 } },
        { do: 'drop', place: 0 },
        { do: 'expire' },
        { do: 'pause' },
      ];
      for (const one of commands) await perform(batchId, 'erc20', one);
      expect(await calls.read(batchId)).toEqual(batch);
      expect(await calls.items(batchId)).toEqual(items);
    }),
  );
  await expectLedgerWhole(service);
}, 60_000);
