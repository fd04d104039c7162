import type { PayoutBatch } from '@florin/contract/schemas';
import { type Tx, transact } from '../../platform/db/index.ts';
import { Fail, invariant } from '../../platform/fail.ts';
import { enqueue } from '../../platform/jobs/index.ts';
import { checkIsNoAuthor } from '../../stores/approvers/index.ts';
import { type MerchantTime, merchantTime } from '../../tenancy/index.ts';
import { countedApprovals, signedApprovals } from '../../transfers/approvals/index.ts';
import { closeUnsentBatch } from '../cancel-payout-batch.ts';
import { changeBatch } from '../change-batch.ts';
import type { Actor, PayoutDeps } from '../deps.ts';
import { boundDigest } from '../items-digest.ts';
import { OWNER_TYPE, PROCESS_JOB } from '../jobs.ts';
import { presentBatch } from '../present.ts';
import { type BatchRow, lockBatch, readItems } from '../queries.ts';
import { payoutAuthority, VOTES } from './authority.ts';

export interface Approval {
  batchId: string;
  approverId: string;
  decision: 'approved' | 'rejected';
  /** By the approver's key, for the signer of live money. */
  signed?: signedApprovals.SignedBy | undefined;
  /** Of the items, as the approver read them. */
  digest?: string | undefined;
}

/** The signer may still wait for signatures. */
const SENDING: ReadonlySet<BatchRow['status']> = new Set(['pending', 'processing']);

function checkWaits(batch: BatchRow): void {
  if (batch.status !== 'pending_approval') {
    throw new Fail(
      'invalid_request',
      `The batch is ${batch.status}; only a batch that is pending_approval is decided.`,
    );
  }
}

async function checkMayDecide(tx: Tx, batch: BatchRow, { approverId: deciderId }: Approval): Promise<void> {
  const refusal =
    'An approver cannot decide on a batch that they, or a key of theirs, created, edited or submitted.';
  await checkIsNoAuthor(tx, batch.merchant_id, { ...batch, deciderId }, refusal);
}

/**
 * Counts the vote of a registered approver on a batch. Enough approvals make it `pending`; one rejection ends it and
 * releases the money. A signature is checked and kept for the signer; it is kept alone where it comes after the votes, as the
 * signer still waits for it, or where its approver has voted and what they signed then counts no more.
 *
 * @throws Fail `forbidden` for whoever created, edited or submitted it, themselves or by a key, and for a removed approver;
 * `invalid_request` in every other state, for an approver who has voted before, and with param `signature`, `approver` or
 * `valid_until` where a signature is wrong or missing
 */
export async function decideApproval(
  deps: PayoutDeps,
  actor: Actor,
  approval: Approval,
): Promise<PayoutBatch> {
  const time = merchantTime(deps, actor);
  const { signed } = approval;
  const policy = await countedApprovals.readPolicy(deps.chains, actor, approval);
  const by = signed && signedApprovals.findPolicyApprover(policy, actor, signed);
  const batch = await transact(deps.db, async (tx) => {
    const locked = await lockBatch(tx, actor.merchantId, approval.batchId);
    const isLate = signed !== undefined && approval.decision === 'approved' && SENDING.has(locked.status);
    if (!isLate) checkWaits(locked);
    await checkMayDecide(tx, locked, approval);
    if (approval.digest !== undefined)
      signedApprovals.checkContent(await authorityOf(tx, locked), approval.digest);
    const keep =
      signed &&
      by &&
      (async () => {
        const { approverId, decision } = approval;
        const given = { ...signed, by, approverId, mode: actor.mode, decision, policy };
        await signedApprovals.keepSignature(tx, await authorityOf(tx, locked), given, time);
      });
    if (!isLate) return await vote(tx, locked, { ...approval, keep }, { policy, time });
    await keep?.();
    return locked;
  });
  return presentBatch(batch);
}

async function vote(
  tx: Tx,
  locked: BatchRow,
  { approverId, decision, keep }: Approval & { keep: (() => Promise<void>) | undefined },
  { policy, time }: { policy: countedApprovals.AskedPolicy; time: MerchantTime },
): Promise<BatchRow> {
  const { merchant_id: merchantId, batch_id: id, required_approvals: required } = locked;
  // The vote is bound to the digest of the items.
  const digest = boundDigest(locked, await readItems(tx, merchantId, id));
  const subject = `${id} ${digest.toString('hex')}`;
  const { isDone } = await countedApprovals.countDecision(
    tx,
    { merchantId, kind: 'payout', id, action: VOTES, subject, required, wanted: locked.required_signatures },
    { approverId, decision, keep },
    { policy, nowSeconds: time.seconds },
  );
  if (decision === 'rejected') return await closeUnsentBatch(tx, locked, 'rejected', time);
  if (!isDone) return locked;
  const job = {
    merchantId: locked.merchant_id,
    kind: PROCESS_JOB,
    uniqueKey: locked.batch_id,
    dueAtMs: time.realMs,
  };
  await enqueue(tx, [{ ...job, followsClock: true, payload: { batchId: locked.batch_id } }]);
  return await changeBatch(tx, locked, { status: 'pending' }, time);
}

async function authorityOf(tx: Tx, { merchant_id: merchantId, batch_id: groupId }: BatchRow) {
  const authority = await payoutAuthority(tx, merchantId, { ownerType: OWNER_TYPE, groupId });
  invariant(authority, 'a batch that is locked can be read');
  return authority;
}
