import { type Chain, type ChainRegistry, ChainUnavailable } from '../chains/index.ts';
import { newId } from '../platform/ids.ts';
import { enqueue, type Job, type JobOutcome, type JobRun } from '../platform/jobs/index.ts';
import type { Platform } from '../platform/platform.ts';
import { getMerchant, type Merchant } from '../stores/index.ts';
import { isPaused } from './pauses.ts';
import {
  type AttemptRow,
  closeAttempt,
  hasWallet,
  insertAttempt,
  lockQueued,
  markSent,
  moveMembers,
  readLiveAttempts,
  readTransfers,
  registerWallet,
  signedOf,
  storeSigned,
  type TransferRow,
  takeSequence,
} from './queries.ts';
import type { Screen } from './screen.ts';
import { judge, lookAgainMs, type MemberVerdict, planAttempts, type Verdict } from './states.ts';

export const SEND_JOB = 'transfers.send';
const KEY_REF = 'hot';
const RETRY_UNAVAILABLE_MS = 2_000;
const RETRY_PAUSED_MS = 5_000;
const CALLS_AT_ONCE = 8;

export interface TransferDeps extends Platform {
  chains: ChainRegistry;
  screen: Screen;
}

/** Kind of the owner's job, written with each outcome: `payout_item.decided`, payload `{ groupId }`. */
export const decidedJob = (ownerType: string) => `${ownerType}.decided`;

interface Work {
  deps: TransferDeps;
  run: JobRun;
  merchant: Merchant;
  groupId: string;
  chain: Chain;
  nowSeconds: number;
}

/** Runs `call` for each, a few at a time: nodes limit how much they are asked at once. */
async function forEach<T, R>(list: readonly T[], call: (entry: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < list.length; i += CALLS_AT_ONCE) {
    results.push(...(await Promise.all(list.slice(i, i + CALLS_AT_ONCE).map(call))));
  }
  return results;
}

/** Brings one group of transfers as far as it goes now; asked again until each of them is decided. */
export async function sendTransfers(deps: TransferDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const groupId = String(job.payload.groupId);
  const transfers = await readTransfers(deps.db, job.merchantId, groupId);
  const open = transfers.find((transfer) => transfer.status === 'queued' || transfer.status === 'sending');
  if (open === undefined) return 'done';
  const merchant = await getMerchant(deps.db, job.merchantId);
  const chain = deps.chains.of(merchant, open.network);
  const nowSeconds = deps.clock.nowSeconds() + merchant.clockOffset;
  const work: Work = { deps, run, merchant, groupId, chain, nowSeconds };
  try {
    return await advance(work, open);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    deps.log.warn(
      { network: chain.network, group_id: groupId, err: error },
      'network unavailable, transfers wait',
    );
    return { againAtMs: deps.clock.nowMs() + RETRY_UNAVAILABLE_MS };
  }
}

async function advance(work: Work, open: TransferRow): Promise<JobOutcome> {
  const { deps, merchant, groupId } = work;
  const paused = await isPaused(deps.db, merchant, open.network, open.currency);
  if (paused) {
    deps.log.warn(
      { network: open.network, currency: open.currency, group_id: groupId },
      'paused, transfers wait',
    );
  } else {
    await reserve(work);
  }
  // What was reserved or signed goes on also while paused: it may be on the chain already.
  await sign(work);
  await send(work);
  await watch(work);
  return await next(work, paused);
}

/** Gives every queued transfer an attempt, and the attempt its sequence. */
async function reserve({ deps, run, merchant, groupId, chain, nowSeconds }: Work): Promise<void> {
  const sender = await chain.sender(KEY_REF);
  const sequenced = await prepareWallet(deps, chain, sender);
  await run.step(async (tx) => {
    const queued = await lockQueued(tx, merchant.merchantId, groupId);
    const addresses = queued.map((transfer) => transfer.address);
    const listed = await deps.screen(tx, merchant.mode, {
      network: chain.network,
      addresses,
      moment: 'submit',
    });
    const refused = queued.filter((transfer) => listed.has(transfer.address));
    await refuse(tx, { merchant, refused, groupId, nowSeconds, dueAtMs: deps.clock.nowMs() });
    const clean = queued.filter((transfer) => !listed.has(transfer.address));
    for (const members of planAttempts(clean, chain.caps.maxItemsPerTx)) {
      const attemptId = newId();
      const sequence = sequenced ? await takeSequence(tx, chain.network, sender, attemptId) : null;
      await insertAttempt(tx, {
        merchantId: merchant.merchantId,
        attemptId,
        sender,
        sequence,
        members,
        nowSeconds,
      });
    }
  });
}

/** @returns whether the network has sequences */
async function prepareWallet(deps: TransferDeps, chain: Chain, sender: string): Promise<boolean> {
  if (await hasWallet(deps.db, chain.network, sender)) return true;
  const first = await chain.nextSequence(sender);
  if (first === null) return false;
  await registerWallet(deps.db, chain.network, sender, BigInt(first));
  return true;
}

interface Refusal {
  merchant: Merchant;
  refused: readonly TransferRow[];
  groupId: string;
  nowSeconds: number;
  dueAtMs: number;
}

/** An address listed since it was submitted fails before anything is signed for it. */
async function refuse(tx: Parameters<typeof moveMembers>[0], refusal: Refusal): Promise<void> {
  const { merchant, refused, nowSeconds } = refusal;
  if (refused.length === 0) return;
  const verdicts = refused.map(
    ({ transfer_id: transferId }): MemberVerdict => ({
      transferId,
      to: 'failed',
      code: 'address_risk',
      message: 'The address is on the risk list.',
    }),
  );
  await moveMembers(tx, merchant.merchantId, verdicts, { txId: null, nowSeconds });
  await tellOwners(tx, merchant, refused, refusal);
}

async function tellOwners(
  tx: Parameters<typeof moveMembers>[0],
  merchant: Merchant,
  transfers: readonly TransferRow[],
  { groupId, dueAtMs }: { groupId: string; dueAtMs: number },
): Promise<void> {
  const owners = [...new Set(transfers.map((transfer) => transfer.owner_type))];
  await enqueue(
    tx,
    owners.map((owner) => ({
      merchantId: merchant.merchantId,
      kind: decidedJob(owner),
      uniqueKey: groupId,
      dueAtMs,
      payload: { groupId },
    })),
  );
}

async function liveAttempts(work: Work, status: AttemptRow['status']): Promise<AttemptRow[]> {
  const attempts = await readLiveAttempts(work.deps.db, work.merchant.merchantId, work.groupId);
  return attempts.filter((attempt) => attempt.status === status);
}

/** Builds and signs what is reserved, and stores the bytes before anybody can send them. */
async function sign(work: Work): Promise<void> {
  const { deps, run, merchant, groupId, chain } = work;
  const reserved = await liveAttempts(work, 'reserved');
  if (reserved.length === 0) return;
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupId);
  const byId = new Map(transfers.map((transfer) => [transfer.transfer_id, transfer]));
  const signed = await forEach(reserved, async (attempt) => ({
    attempt,
    tx: await chain.buildTransfer({
      keyRef: KEY_REF,
      asset: attempt.currency,
      batchId: attempt.attempt_id,
      items: attempt.item_ids.map((id) => itemOf(byId.get(id))),
      ...(attempt.sequence === null ? {} : { sequence: String(attempt.sequence) }),
    }),
  }));
  await run.step(async (tx) => {
    for (const { attempt, tx: bytes } of signed) {
      await storeSigned(tx, merchant.merchantId, attempt.attempt_id, bytes);
    }
  });
}

function itemOf(transfer: TransferRow | undefined) {
  if (transfer === undefined) throw new Error('an attempt names a transfer that its group does not have');
  const { transfer_id: itemId, address: to, amount, memo } = transfer;
  return { itemId, to, amount, ...(memo === null ? {} : { memo }) };
}

/** Sends stored bytes. Whatever the node answers or fails to answer, they may be out: the chain decides. */
async function send(work: Work): Promise<void> {
  const signed = await liveAttempts(work, 'signed');
  if (signed.length === 0) return;
  const answered = await forEach(signed, (attempt) => broadcast(work, attempt));
  await work.run.step((tx) =>
    markSent(
      tx,
      work.merchant.merchantId,
      signed.map((attempt) => attempt.attempt_id),
    ),
  );
  const silent = answered.find((answer) => answer instanceof ChainUnavailable);
  if (silent !== undefined) throw silent;
}

async function broadcast(work: Work, attempt: AttemptRow): Promise<ChainUnavailable | undefined> {
  try {
    const answer = await work.chain.broadcast(signedOf(attempt));
    if (answer.result === 'rejected') {
      work.deps.log.warn(
        { tx_id: attempt.tx_id, code: answer.code },
        'a node rejected a transaction; the chain decides',
      );
    }
    return undefined;
  } catch (error) {
    if (error instanceof ChainUnavailable) return error;
    throw error;
  }
}

/** Asks the chain about what is out, sends unseen bytes again, and writes down what is decided. */
async function watch(work: Work): Promise<void> {
  const sent = await liveAttempts(work, 'sent');
  const decided = await forEach(sent, async (attempt) => {
    const status = await work.chain.status(signedOf(attempt));
    if (status.state === 'unknown') await broadcast(work, attempt);
    const members = attempt.item_ids.map((transferId) => ({ transferId }));
    return { attempt, verdict: judge(status, members, work.chain.caps), detail: status.reason ?? null };
  });
  for (const { attempt, verdict, detail } of decided) {
    if (verdict !== undefined) await decide(work, attempt, { ...verdict, detail });
  }
}

async function decide(
  work: Work,
  attempt: AttemptRow,
  verdict: Verdict & { detail: string | null },
): Promise<void> {
  const { deps, run, merchant, groupId, nowSeconds } = work;
  await run.step(async (tx) => {
    if (!(await closeAttempt(tx, attempt, { ...verdict, nowSeconds }))) return;
    const transfers = await readTransfers(tx, merchant.merchantId, groupId);
    const members = transfers.filter((transfer) => attempt.item_ids.includes(transfer.transfer_id));
    if (verdict.members.every((member) => member.to === 'queued')) return;
    await tellOwners(tx, merchant, members, { groupId, dueAtMs: deps.clock.nowMs() });
  });
}

async function next({ deps, merchant, groupId, nowSeconds }: Work, paused: boolean): Promise<JobOutcome> {
  const transfers = await readTransfers(deps.db, merchant.merchantId, groupId);
  if (transfers.some((transfer) => transfer.status === 'queued')) {
    return { againAtMs: deps.clock.nowMs() + (paused ? RETRY_PAUSED_MS : 0) };
  }
  const sending = transfers.filter((transfer) => transfer.status === 'sending');
  if (sending.length === 0) return 'done';
  const attempts = await readLiveAttempts(deps.db, merchant.merchantId, groupId);
  const youngest = Math.max(...attempts.map((attempt) => Number(attempt.created_at)), 0);
  return { againAtMs: deps.clock.nowMs() + lookAgainMs(nowSeconds - youngest) };
}
