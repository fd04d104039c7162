import type { PayoutBatch } from '@florin/contract/schemas';
import { BelowFloor, post } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Caller } from '../platform/http/index.ts';
import { crashPoint, enqueue } from '../platform/jobs/index.ts';
import { withAuthor } from '../stores/approvers/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import { requiredApprovals } from '../transfers/approvals/index.ts';
import { isPaused, isTurnedOn } from '../transfers/index.ts';
import { sumUnapproved, sumUnsigned } from './approvals/approval-queries.ts';
import { changeBatch } from './change-batch.ts';
import { checkItems } from './check-items.ts';
import { type PayoutDeps, type PayoutSettings, payoutSettings } from './deps.ts';
import { itemsDigest } from './items-digest.ts';
import { APPROVAL_WAITS_SECONDS, EXPIRE_APPROVAL_JOB, PROCESS_JOB } from './jobs.ts';
import { mailBatch } from './mail-batch.ts';
import { reservePostings } from './postings.ts';
import { presentBatch } from './present.ts';
import {
  type BatchRow,
  inputOf,
  lockBatch,
  moveItems,
  readItems,
  takeQuota,
  totalColumns,
  writeFindings,
} from './queries.ts';
import { checkMaySubmit, decideSubmit, type SubmitDecision, type Totals, totalsOf } from './states.ts';

const DAY_SECONDS = 86_400;

interface Submit {
  deps: PayoutDeps;
  caller: Caller;
  settings: PayoutSettings;
  time: MerchantTime;
  signerRule: requiredApprovals.SignerRule;
}
type Refusal = Extract<SubmitDecision, { to: 'needs_fix' }>['refusal'];

const REFUSALS: Record<Refusal, string> = {
  address_risk_rejected: 'An address of the batch was put on the risk list. Read the batch to see which.',
  batch_cannot_submit: 'The batch has invalid items. Read the batch to see them, and mend or drop them.',
};

/**
 * Submits a batch: checks every item again, reserves the money and moves the batch to `pending` or `pending_approval`.
 * Findings are committed (`needs_fix`) and refuse the call; every other refusal leaves the batch as it was.
 *
 * @throws Fail `batch_cannot_submit`, `address_risk_rejected`, `quota_blocked`, `insufficient_balance`,
 * `custody_balance_insufficient`; `service_unavailable` while the network or token is paused or has no chain, or the
 * signer of live money does not answer
 */
export async function submitPayoutBatch(
  deps: PayoutDeps,
  caller: Caller,
  batchId: string,
): Promise<PayoutBatch> {
  const settings = await payoutSettings(deps, caller);
  const signerRule = await requiredApprovals.readSignerRule(deps.chains, caller, 'payouts');
  const submit: Submit = { deps, caller, settings, time: merchantTime(deps, caller), signerRule };
  const outcome = await transact(deps.db, async (tx) => {
    const decided = await submitIn(tx, submit, batchId);
    crashPoint('submit.before-commit');
    return decided;
  });
  crashPoint('submit.after-commit');
  if (outcome.refusal !== undefined) throw new Fail(outcome.refusal, REFUSALS[outcome.refusal]);
  return presentBatch(outcome.batch);
}

async function submitIn(
  tx: Tx,
  submit: Submit,
  batchId: string,
): Promise<{ batch: BatchRow; refusal?: Refusal }> {
  const batch = await lockBatch(tx, submit.caller.merchantId, batchId);
  checkMaySubmit(batch.status);
  const { checked, totals } = await recheck(tx, submit, batch);
  const required =
    totals.invalid === 0 ? await decideApprovals(tx, submit, batch, totals.requested) : NONE_REQUIRED;
  const decision = decideSubmit(batch.validation_errors, totals, required.approvals > 0);
  if (decision.to !== 'needs_fix') {
    await writeFindings(tx, batch, checked);
    return { batch: await reserve(tx, submit, batch, { to: decision.to, totals, required }) };
  }
  await writeFindings(tx, batch, checked);
  const change = { status: decision.to, ...withAuthor(batch, submit.caller), ...totalColumns(totals) };
  return { batch: await changeBatch(tx, batch, change, submit.time), refusal: decision.refusal };
}

/** Checks every item again. The fees quoted at creation stay. */
async function recheck(tx: Tx, { deps, caller, settings }: Submit, batch: BatchRow) {
  const items = await readItems(tx, caller.merchantId, batch.batch_id);
  const inputs = items.map((item) => ({ index: item.index, input: inputOf(item) }));
  const checked = await checkItems(inputs, {
    ...deps,
    db: tx,
    merchant: caller,
    currency: batch.currency,
    network: batch.network,
    rules: settings,
    stage: 'execution',
  });
  const quoted = checked.map((item, i) => ({ ...item, fee: items[i]?.service_fee_amount ?? item.fee }));
  return { checked, totals: totalsOf(quoted) };
}

const NONE_REQUIRED: requiredApprovals.ApprovalCounts = { approvals: 0, signatures: null };

async function decideApprovals(
  tx: Tx,
  submit: Submit,
  batch: BatchRow,
  amount: bigint,
): Promise<requiredApprovals.ApprovalCounts> {
  await checkTurnedOn(tx, submit, batch);
  await checkNotPaused(tx, submit, batch);
  const { caller, settings, time, signerRule } = submit;
  const { merchantId } = caller;
  const outflow = { merchantId, kind: 'payouts', amount, nowSeconds: time.seconds } as const;
  const sums = { unapproved: sumUnapproved, unsigned: sumUnsigned };
  return await requiredApprovals.decideRequired(tx, outflow, { settings, rule: signerRule, sums });
}

/** @throws Fail `quota_blocked` for a live merchant whose payouts on the network are not turned on; the batch stays as it is */
async function checkTurnedOn(tx: Tx, { caller }: Submit, batch: BatchRow): Promise<void> {
  if (await isTurnedOn(tx, caller, batch.network)) return;
  const message =
    `Payouts of real money on ${batch.network} are not turned on for this merchant yet. The batch is unchanged; ` +
    `submit it once your operator has turned them on (florin networks enable MERCHANT ${batch.network}).`;
  throw new Fail('quota_blocked', message);
}

/** @throws Fail `service_unavailable` while the network or token is paused; the batch stays as it is */
async function checkNotPaused(tx: Tx, { deps, caller }: Submit, batch: BatchRow): Promise<void> {
  deps.chains.of(caller, batch.network);
  if (!(await isPaused(tx, caller, batch.network, batch.currency))) return;
  const message = `Sending ${batch.currency} on ${batch.network} is paused. The batch is unchanged; submit it later.`;
  throw new Fail('service_unavailable', { message, retryAfterSeconds: 60 });
}

async function reserve(
  tx: Tx,
  submit: Submit,
  batch: BatchRow,
  {
    to,
    totals,
    required,
  }: { to: 'pending' | 'pending_approval'; totals: Totals; required: requiredApprovals.ApprovalCounts },
): Promise<BatchRow> {
  const { caller, settings, time } = submit;
  const day = Math.floor(time.seconds / DAY_SECONDS);
  if (!(await takeQuota(tx, batch, day, settings.dailyQuota))) {
    const message = 'The batch exceeds the rest of the daily quota. The day ends at 00:00 UTC.';
    throw new Fail('quota_blocked', message);
  }
  await hold(tx, batch, totals, time.seconds);
  await moveItems(tx, batch, 'queued');
  const items = await readItems(tx, batch.merchant_id, batch.batch_id);
  const change = {
    status: to,
    submitted_at: time.seconds,
    submitted_day: day,
    ...withAuthor(batch, caller),
    items_digest: itemsDigest(batch, items),
    required_approvals: required.approvals,
    required_signatures: required.signatures,
    frozen_amount: totals.amount + totals.fees,
    ...totalColumns(totals),
  };
  const written = await changeBatch(tx, batch, change, time);
  await schedule(tx, written, time);
  if (to === 'pending_approval') await mailBatch(tx, written, 'payout_waiting', time);
  return written;
}

/** Balance first, then custody, each checked and reserved in one statement. */
async function hold(tx: Tx, batch: BatchRow, totals: Totals, nowSeconds: number): Promise<void> {
  try {
    const debit = totals.amount + totals.fees;
    await post(tx, batch.merchant_id, reservePostings({ ...batch, debit_amount: debit }), nowSeconds);
  } catch (error) {
    if (!(error instanceof BelowFloor)) throw error;
    if (error.account === 'available') {
      throw new Fail('insufficient_balance', 'The available balance does not cover the batch and its fees.');
    }
    const message = `The coins on ${batch.network} do not cover the batch, although the balance does.`;
    throw new Fail('custody_balance_insufficient', message);
  }
}

async function schedule(tx: Tx, batch: BatchRow, time: MerchantTime): Promise<void> {
  const waits = batch.status === 'pending_approval';
  const inMs = waits ? APPROVAL_WAITS_SECONDS * 1000 : 0;
  await enqueue(tx, [
    {
      merchantId: batch.merchant_id,
      kind: waits ? EXPIRE_APPROVAL_JOB : PROCESS_JOB,
      uniqueKey: batch.batch_id,
      dueAtMs: time.realMs + inMs,
      followsClock: true,
      payload: { batchId: batch.batch_id },
    },
  ]);
}
