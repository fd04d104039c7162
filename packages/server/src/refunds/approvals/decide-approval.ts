import type { MerchantRef } from '../../payments/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import { Fail, invariant } from '../../platform/fail.ts';
import { crashPoint, enqueue, type Job, type JobOutcome, type JobRun } from '../../platform/jobs/index.ts';
import { checkIsNoAuthor } from '../../stores/approvers/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { type MerchantTime, merchantTime } from '../../tenancy/index.ts';
import { countedApprovals, signedApprovals } from '../../transfers/approvals/index.ts';
import { type RefundDeps, refundSettings } from '../deps.ts';
import { endRefund } from '../end-refund.ts';
import { OWNER_TYPE, sendJob } from '../jobs.ts';
import { type LockedRefund, lockRefund, type RefundRow, updateRefund } from '../queries.ts';
import { afterVerdict, awaitsApproval, delayLeft, maySend, type RefundVerdict } from '../states.ts';
import { boundDigest } from './approval.ts';
import { refundAuthority, VOTES } from './authority.ts';

export interface RefundApproval {
  refundId: string;
  approverId: string;
  verdict: RefundVerdict;
  /** By the approver's key, for the signer of live money. */
  signed?: signedApprovals.SignedBy | undefined;
  /** Of its item, as the approver read it. */
  digest?: string | undefined;
}

export interface DecidedRefund {
  refund: RefundRow;
  /** The number of approvals so far. */
  approvals: number;
}

async function checkMayDecide(tx: Tx, refund: RefundRow, deciderId: string): Promise<void> {
  const owners = refund.created_by_owner === null ? [] : [refund.created_by_owner];
  const refusal = 'Approvers cannot decide on a refund that they, or their own API key, created.';
  await checkIsNoAuthor(tx, refund.merchant_id, { owners, authors: refund.authors, deciderId }, refusal);
}

function checkWaits(refund: RefundRow): void {
  if (!awaitsApproval(refund))
    throw new Fail('invalid_request', `The refund is ${refund.status} and does not wait for approval.`);
}

/** Approved or in need of none, and not paid: the signer may still wait for signatures. */
const isUnderWay = (refund: RefundRow) => maySend(refund) || refund.status === 'processing';

/**
 * Records a registered approver's verdict on a refund. Enough approvals let it be sent; one rejection cancels it and
 * releases the money. A signature is checked and kept for the signer; it is kept alone where it comes after the approvals, or
 * where its approver has approved and what they signed then counts no more.
 *
 * @throws Fail `forbidden` for whoever created it, themselves or by a key; `invalid_request` if it does not wait for approval, or
 * the approver has decided before, and with param `signature`, `approver` or `valid_until` where a signature is wrong or
 * missing
 */
export async function decideRefund(
  deps: RefundDeps,
  merchant: MerchantRef,
  approval: RefundApproval,
): Promise<DecidedRefund> {
  const { delaySeconds } = await refundSettings(deps, merchant);
  const time = merchantTime(deps, merchant);
  const { signed } = approval;
  const policy = await countedApprovals.readPolicy(deps.chains, merchant, {
    decision: approval.verdict,
    signed,
  });
  const by = signed && signedApprovals.findPolicyApprover(policy, merchant, signed);
  const decided = await transact(deps.db, async (tx) => {
    const locked = await lockRefund(tx, merchant.merchantId, approval.refundId);
    const { refund } = locked;
    const isLate = signed !== undefined && approval.verdict === 'approved' && isUnderWay(refund);
    if (!isLate) checkWaits(refund);
    await checkMayDecide(tx, refund, approval.approverId);
    if (approval.digest !== undefined)
      signedApprovals.checkContent(await authorityOf(tx, refund), approval.digest);
    const keep =
      signed &&
      by &&
      (async () => {
        const { approverId, verdict: decision } = approval;
        const given = { ...signed, by, approverId, mode: merchant.mode, decision, policy };
        await signedApprovals.keepSignature(tx, await authorityOf(tx, refund), given, time);
      });
    if (isLate) {
      await keep?.();
      return { refund, approvals: refund.required_approvals };
    }
    const after = await decideLocked(tx, locked, { ...approval, keep }, { delaySeconds, policy, time });
    crashPoint('refund-approval.before-commit');
    return after;
  });
  crashPoint('refund-approval.after-commit');
  return decided;
}

/** What a decision is compared with. */
interface Asked {
  delaySeconds: number;
  policy: countedApprovals.AskedPolicy;
  time: MerchantTime;
}

async function decideLocked(
  tx: Tx,
  locked: LockedRefund,
  { approverId, verdict, keep }: RefundApproval & { keep: (() => Promise<void>) | undefined },
  { delaySeconds, policy, time }: Asked,
): Promise<DecidedRefund> {
  const { refund } = locked;
  const { merchant_id: merchantId, refund_id: id, required_approvals: required } = refund;
  // An approval is bound to its exact amount and address.
  const subject = `${id} ${boundDigest(refund).toString('hex')}`;
  const { agreed, isDone } = await countedApprovals.countDecision(
    tx,
    { merchantId, kind: 'refund', id, action: VOTES, subject, required, wanted: refund.required_signatures },
    { approverId, decision: verdict, keep },
    { policy, nowSeconds: time.seconds },
  );
  crashPoint('refund-approval.voted');
  const next = afterVerdict(verdict, isDone);
  if (next === 'canceled')
    return { refund: await endRefund(tx, locked, { status: 'canceled' }, time), approvals: 0 };
  if (next === 'waits') return { refund, approvals: agreed };
  const approved = await updateRefund(tx, refund, { approved_at: time.seconds });
  const left = delayLeft(delaySeconds, time.seconds - Number(refund.addressed_at));
  await enqueue(tx, [sendJob(refund, time, left)]);
  return { refund: approved, approvals: agreed };
}

async function authorityOf(tx: Tx, { merchant_id: merchantId, refund_id: groupId }: RefundRow) {
  const authority = await refundAuthority(tx, merchantId, { ownerType: OWNER_TYPE, groupId });
  invariant(authority, 'a refund that is decided has an address');
  return authority;
}

/** Handles `EXPIRE_REFUND_APPROVAL_JOB`: cancels a refund that nobody approved in time and releases its money. */
export async function expireRefundApproval(deps: RefundDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  await run.step(async (tx) => {
    const locked = await lockRefund(tx, job.merchantId, String(job.payload.refundId));
    if (!awaitsApproval(locked.refund)) return;
    await endRefund(tx, locked, { status: 'canceled' }, merchantTime(deps, merchant));
  });
  return 'done';
}
