import type { Network } from '@florin/contract/money';
import type { RefundFailure, RefundWait } from '@florin/contract/schemas';
import { BelowFloor, post } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import { getMerchant, type Merchant } from '../stores/index.ts';
import { type MerchantTime, merchantTime } from '../tenancy/index.ts';
import { isPaused, isTurnedOn, listDecided, requestTransfers, retryMs } from '../transfers/index.ts';
import { checkRecipient } from '../transfers/recipients/index.ts';
import { boundDigest } from './approvals/approval.ts';
import { followLostRefund } from './approvals/decide-lost.ts';
import type { RefundDeps } from './deps.ts';
import { endRefund, type Outcome } from './end-refund.ts';
import { OWNER_TYPE } from './jobs.ts';
import { mailRefund } from './mail-refund.ts';
import { reserveCoinsPostings } from './postings.ts';
import { findRefund, lockRefund, type RefundRow, updateRefund } from './queries.ts';
import { maySend } from './states.ts';

/** What is logged of a refund that waits. */
const WAITS: Record<RefundWait, string> = {
  merchant_suspended: 'its merchant is suspended',
  network_not_enabled: 'its network is not turned on for the merchant: florin networks enable',
  network_paused: 'its network or token is paused',
  coins: 'its network holds too few coins',
};

interface Sending {
  deps: RefundDeps;
  job: Job;
  run: JobRun;
  merchant: Merchant;
  time: MerchantTime;
}

/** Handles `SEND_REFUND_JOB`: reserves the coins and orders the transfer in one transaction (pending → processing). */
export async function sendRefund(deps: RefundDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const sending: Sending = { deps, job, run, merchant, time: merchantTime(deps, merchant) };
  crashPoint('refund-send.claimed');
  const blockedBy = await trySend(sending);
  crashPoint('refund-send.after-commit');
  return blockedBy === undefined ? 'done' : await scheduleRetry(sending, blockedBy);
}

async function trySend(sending: Sending): Promise<RefundWait | undefined> {
  const { job, run, merchant } = sending;
  try {
    return await run.step(async (tx) => {
      const locked = await lockRefund(tx, job.merchantId, String(job.payload.refundId));
      const { refund } = locked;
      // Canceled meanwhile, or sent by an earlier run whose commit was not acknowledged.
      if (!maySend(refund) || refund.address === null) return undefined;
      if (merchant.status === 'suspended') return 'merchant_suspended';
      // A row that was tampered with is never paid: the job fails until a person cancels the refund.
      if (refund.required_approvals > 0) boundDigest(refund);
      if (!(await isTurnedOn(tx, merchant, refund.network))) return 'network_not_enabled';
      if (await isPaused(tx, merchant, refund.network, refund.currency)) return 'network_paused';
      // Checked when it was given; only its canonical form is needed here.
      const { canonical } = checkRecipient(refund.network, refund.address, { allowProgramOwned: true });
      const reason = await rejectionOf(tx, sending, refund.network, canonical);
      if (reason !== undefined) {
        await endRefund(tx, locked, { status: 'failed', reason, txId: null }, sending.time);
        return undefined;
      }
      await order(tx, refund, canonical, sending.time);
      await mailRefund(tx, { refund, payment: locked.view.payment }, { kind: 'refund_sent' }, sending.time);
      crashPoint('refund-send.before-commit');
      return undefined;
    });
  } catch (error) {
    if (error instanceof BelowFloor) return 'coins';
    throw error;
  }
}

/** Why an address is no longer payable: since it was named it was sanctioned, or became a deposit address of the merchant. */
async function rejectionOf(
  tx: Tx,
  { deps, merchant }: Sending,
  network: Network,
  address: string,
): Promise<RefundFailure | undefined> {
  const check = { network, addresses: [address] };
  if ((await deps.screen(tx, merchant.mode, { ...check, stage: 'execution' })).has(address))
    return 'address_risk';
  return (await deps.findUnpayable(tx, merchant, check)).has(address) ? 'transfer_failed' : undefined;
}

/** @throws BelowFloor if the network holds too few coins */
async function order(tx: Tx, refund: RefundRow, address: string, time: MerchantTime): Promise<void> {
  const { merchant_id: merchantId, refund_id: refundId, network, currency, amount } = refund;
  await post(tx, merchantId, reserveCoinsPostings(refund), time.seconds);
  crashPoint('refund-send.coins-reserved');
  const owner = { ownerType: OWNER_TYPE, ownerId: refundId, groupId: refundId, place: 0 };
  await requestTransfers(
    tx,
    merchantId,
    [{ ...owner, network, currency, address, amount, memo: null }],
    time,
  );
  await updateRefund(tx, refund, { status: 'processing', short_since: null, waiting_for: null });
}

/**
 * Logs why the refund waits, and schedules a retry in real time: a sandbox clock that is advanced must not wait for it, and
 * brings no coins.
 */
async function scheduleRetry(sending: Sending, blockedBy: RefundWait): Promise<JobOutcome> {
  const { deps, job, run, time } = sending;
  const refund = await findRefund(deps.db, job.merchantId, String(job.payload.refundId));
  if (refund === undefined) return 'done';
  const { network, currency, own_id: ownId, short_since: shortSince } = refund;
  const fields = { merchantId: job.merchantId, refund_id: ownId, network, currency };
  const level = blockedBy === 'coins' ? 'error' : blockedBy === 'network_paused' ? 'warn' : 'info';
  deps.log[level](fields, `a refund waits: ${WAITS[blockedBy]}`);
  const againAtMs = time.realMs + retryMs(time.seconds - Number(shortSince ?? time.seconds));
  const isNewlyShort = blockedBy === 'coins' && shortSince === null;
  if (isNewlyShort || refund.waiting_for !== blockedBy)
    await run.step(async (tx) => {
      const locked = await lockRefund(tx, job.merchantId, refund.refund_id);
      const change = { waiting_for: blockedBy, ...(isNewlyShort && { short_since: time.seconds }) };
      if (locked.refund.status === 'pending') await updateRefund(tx, refund, change);
    });
  return { againAtMs, followsClock: false };
}

/** Handles `SETTLE_REFUND_JOB`: books the outcome of a refund's transfer. */
export async function settleRefund(deps: RefundDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  await run.step(async (tx) => {
    const locked = await lockRefund(tx, job.merchantId, String(job.payload.groupId));
    const { refund } = locked;
    const transfer = (await listDecided(tx, job.merchantId, refund.refund_id)).at(-1);
    if (transfer === undefined) return;
    const time = merchantTime(deps, merchant);
    if (refund.status !== 'processing') return await followLostRefund(tx, refund, transfer, time);
    crashPoint('refund-settle.before');
    const { tx_id: txId, status } = transfer;
    const reason = transfer.failure_code === 'address_risk' ? 'address_risk' : 'transfer_failed';
    const outcome: Outcome = status === 'succeeded' ? { status, txId } : { status: 'failed', reason, txId };
    const ended = await endRefund(tx, locked, outcome, time);
    // The transfer may already be lost.
    await followLostRefund(tx, ended, transfer, time);
    crashPoint('refund-settle.before-commit');
  });
  crashPoint('refund-settle.after-commit');
  return 'done';
}
