import { BelowFloor, post } from '../ledger/index.ts';
import { crashPoint } from '../platform/crash-point.ts';
import type { Tx } from '../platform/db.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { type Occasion, occasionOf } from '../platform/occasion.ts';
import { getMerchant, type Merchant } from '../stores/index.ts';
import { checkRecipient, isPaused, listDecided, requestTransfers, retryMs } from '../transfers/index.ts';
import type { RefundDeps } from './deps.ts';
import { endRefund } from './end-refund.ts';
import { OWNER_TYPE } from './jobs.ts';
import { reserveCoinsPostings } from './postings.ts';
import { findRefund, lockRefund, type RefundRow, updateRefund } from './queries.ts';

/** Why a refund is not sent yet. */
type Hindrance = 'paused' | 'short';

interface Sending {
  deps: RefundDeps;
  job: Job;
  run: JobRun;
  merchant: Merchant;
  occasion: Occasion;
}

/** pending → processing: the coins are set aside and the transfer is ordered, in one change. */
export async function sendRefund(deps: RefundDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const sending: Sending = { deps, job, run, merchant, occasion: occasionOf(deps, merchant) };
  crashPoint('refund-send.claimed');
  const hindrance = await trySend(sending);
  crashPoint('refund-send.after-commit');
  return hindrance === undefined ? 'done' : await waitFor(sending, hindrance);
}

async function trySend(sending: Sending): Promise<Hindrance | undefined> {
  const { deps, job, run, merchant } = sending;
  try {
    return await run.step(async (tx) => {
      const locked = await lockRefund(tx, job.merchantId, String(job.payload.refundId));
      const { refund } = locked;
      // Canceled in the meantime, or sent by a run whose answer was lost.
      if (refund.status !== 'pending' || refund.address === null) return undefined;
      if (await isPaused(tx, merchant, refund.network, refund.currency)) return 'paused';
      // Judged when it was given; here only its one spelling is asked for.
      const { canonical } = checkRecipient(refund.network, refund.address, { allowProgramOwned: true });
      const question = { network: refund.network, addresses: [canonical], moment: 'submit' as const };
      if ((await deps.screen(tx, merchant.mode, question)).has(canonical)) {
        const outcome = { status: 'failed', reason: 'address_risk', txId: null } as const;
        await endRefund(tx, locked, outcome, sending.occasion);
        return undefined;
      }
      await order(tx, refund, canonical, sending.occasion);
      crashPoint('refund-send.before-commit');
      return undefined;
    });
  } catch (error) {
    if (error instanceof BelowFloor) return 'short';
    throw error;
  }
}

/** @throws BelowFloor where too few coins lie on the network */
async function order(tx: Tx, refund: RefundRow, address: string, occasion: Occasion): Promise<void> {
  const { merchant_id: merchantId, refund_id: refundId, network, currency, amount } = refund;
  await post(tx, merchantId, reserveCoinsPostings(refund), occasion.seconds);
  crashPoint('refund-send.coins-reserved');
  const owner = { ownerType: OWNER_TYPE, ownerId: refundId, groupId: refundId };
  await requestTransfers(
    tx,
    merchantId,
    [{ ...owner, network, currency, address, amount, memo: null }],
    occasion,
  );
  await updateRefund(tx, refund, { status: 'processing', short_since: null });
}

/**
 * Alarms, and has it tried again. In real time: a clock that is moved ahead would stop at each try, and coins come no
 * sooner by that.
 */
async function waitFor(sending: Sending, hindrance: Hindrance): Promise<JobOutcome> {
  const { deps, job, run, occasion } = sending;
  const refund = await findRefund(deps.db, job.merchantId, String(job.payload.refundId));
  if (refund === undefined) return 'done';
  const { network, currency, own_id: ownId, short_since: shortSince } = refund;
  const fields = { merchantId: job.merchantId, refund_id: ownId, network, currency };
  if (hindrance === 'paused') deps.log.warn(fields, 'paused, a refund waits');
  else deps.log.error(fields, 'too few coins lie on the network for a refund: it waits');
  const againAtMs = occasion.realMs + retryMs(occasion.seconds - Number(shortSince ?? occasion.seconds));
  if (hindrance === 'short' && shortSince === null)
    await run.step(async (tx) => {
      const locked = await lockRefund(tx, job.merchantId, refund.refund_id);
      if (locked.refund.status === 'pending')
        await updateRefund(tx, refund, { short_since: occasion.seconds });
    });
  return { againAtMs, followsClock: false };
}

/** Books what became of a refund's transfer. */
export async function settleRefund(deps: RefundDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  await run.step(async (tx) => {
    const locked = await lockRefund(tx, job.merchantId, String(job.payload.groupId));
    const { refund } = locked;
    if (refund.status !== 'processing') return;
    const [transfer] = await listDecided(tx, job.merchantId, refund.refund_id);
    if (transfer === undefined) return;
    crashPoint('refund-settle.before');
    const { tx_id: txId, status } = transfer;
    const reason = transfer.failure_code === 'address_risk' ? 'address_risk' : 'transfer_failed';
    await endRefund(
      tx,
      locked,
      status === 'succeeded' ? { status, txId } : { status: 'failed', reason, txId },
      occasionOf(deps, merchant),
    );
    crashPoint('refund-settle.before-commit');
  });
  crashPoint('refund-settle.after-commit');
  return 'done';
}
