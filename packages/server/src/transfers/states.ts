import {
  CHARGE_FAULTS,
  type ChainCapabilities,
  type ChargeFault,
  type PayersFault,
  type SignedTx,
  type TxStatus,
} from '../chains/port/index.ts';
import { Moves } from '../platform/db/guards/index.ts';
import type { BlockedBy } from './blocked-by.ts';

// Send once. A transfer is `queued` until an attempt carries it (`sending`), and ends `succeeded` or `failed`; it goes
// back to `queued` only when its attempt is provably over without having paid it. An attempt goes
// reserved (its sequence is taken) → signed (its bytes are stored) → sent → succeeded | failed | dead.
// Invariant: a transfer has at most one attempt that may still pay it, and bytes are sent only after they are stored.
// After a crash: a reserved attempt is built again, as nothing was sent. The stored bytes of a signed or sent one are sent
// again, which is the same transaction to the chain. Only a final block with it, or the proof that it is dead, ends it.
// An attempt that cannot be built, or would pay an address that was sanctioned since, was never sent: reserved → failed, and its
// transfers go back or fail. Its sequence goes to another attempt, which pays nobody, as a gap would block all later
// sequences. Where wallets have no sequence, a charge that its signer refused takes up the same attempt later: failed → reserved.
// A charge is a transfer that comes from its address instead of going there: it takes the same states, alone in its group,
// needs no coins of ours, and fails for the payer's reasons.

export type TransferStatus = 'queued' | 'sending' | 'succeeded' | 'failed';
export type AttemptStatus = 'reserved' | 'signed' | 'sent' | 'succeeded' | 'failed' | 'dead';
export const TRANSFER_MOVES = new Moves<TransferStatus>('a transfer', {
  // An attempt carries it · an earlier attempt turns out to have paid it · it is canceled, or must not be paid.
  queued: ['sending', 'succeeded', 'failed'],
  // The attempt ended without paying it, and another may be made · it was paid · it failed.
  sending: ['queued', 'succeeded', 'failed'],
  // A reorganisation took the payment, and people have given the money back.
  succeeded: ['failed'],
  failed: [],
});

export const ATTEMPT_MOVES = new Moves<AttemptStatus>('an attempt', {
  // Its bytes are stored · it is abandoned, or cannot be built: nothing was sent.
  reserved: ['signed', 'failed'],
  signed: ['sent', 'succeeded', 'failed', 'dead'],
  sent: ['succeeded', 'failed', 'dead'],
  succeeded: [],
  // A charge that gave way to its signer takes up the attempt that it had, which has no bytes.
  failed: ['reserved'],
  dead: [],
});

/** Of a payer's signed mandate on its way to the network. */
export type ActivationStatus = 'open' | 'active' | 'failed';

export const ACTIVATION_MOVES = new Moves<ActivationStatus>('an activation', {
  open: ['active', 'failed'],
  active: [],
  failed: [],
});

/** Of a hot wallet that another takes the place of: closed to new work; handing its coins over; empty for good. */
export type RotationStatus = 'closing' | 'moving' | 'done';

export const ROTATION_MOVES = new Moves<RotationStatus>('a rotation', {
  closing: ['moving'],
  moving: ['done'],
  done: [],
});

/** The network's reason for a failed charge, where it gives one; `network_unavailable`: a charge was not sent in time. */
export type TransferFailure = 'address_risk' | 'transfer_failed' | 'network_unavailable' | PayersFault;

/** What is our failure, as a charge that came too late: it is made again, and the customer is not dunned for it. */
export const chargeFailure = (fault: ChargeFault): TransferFailure =>
  fault === 'too_late' || fault === 'our_fault' ? 'network_unavailable' : fault;

export interface AttemptTransfer {
  transferId: string;
  isCharge?: boolean;
}

/** What a transfer becomes when its attempt has ended. */
export type TransferVerdict =
  /** `paidBefore`: an earlier transaction has paid it, so this one moved nothing for it. */
  | { transferId: string; to: 'succeeded'; paidBefore?: true }
  | { transferId: string; to: 'failed'; code: TransferFailure; message: string }
  /** Another attempt may be made; `alone`: in a transaction of its own, as another transfer of the attempt may have been the cause. */
  | { transferId: string; to: 'queued'; alone: boolean };

/** What an attempt and its transfers become. */
export interface Verdict {
  attempt: 'succeeded' | 'failed' | 'dead';
  transfers: TransferVerdict[];
}

function failed(
  { transferId, isCharge = false }: AttemptTransfer,
  why: string,
  reason?: string,
): TransferVerdict {
  const fault = isCharge ? CHARGE_FAULTS.find((known) => known === reason) : undefined;
  const what = isCharge ? 'charge' : 'transfer';
  const message = `The ${what} ${why}. Nothing was paid.`;
  return {
    transferId,
    to: 'failed',
    code: fault === undefined ? 'transfer_failed' : chargeFailure(fault),
    message,
  };
}

const backToQueue = (transfers: readonly AttemptTransfer[], alone: boolean): TransferVerdict[] =>
  transfers.map(({ transferId }) => ({ transferId, to: 'queued', alone }));

/**
 * Judges an attempt by its status on the chain. An answer that contradicts itself, or leaves open which items were paid,
 * decides nothing.
 *
 * @param transfers in the order of the transaction's items
 * @returns undefined while it is not decided
 */
export function judgeAttempt(
  status: TxStatus,
  transfers: readonly AttemptTransfer[],
  capabilities: ChainCapabilities,
): Verdict | undefined {
  if (!status.final) return undefined;
  if (status.state === 'dead') return { attempt: 'dead', transfers: backToQueue(transfers, false) };
  if (status.state !== 'final' && status.state !== 'failed') return undefined;
  // A transaction that only fills a gap.
  if (transfers.length === 0)
    return { attempt: status.state === 'final' ? 'succeeded' : 'failed', transfers: [] };
  const moved = movedItems(status, transfers.length, capabilities);
  if (moved === undefined) return undefined;
  const before = paidBefore(status, transfers.length);
  // One bad item fails an atomic group: each is tried alone, so that only the bad one fails.
  if (status.state === 'failed' && !capabilities.partialBatch && transfers.length > 1) {
    return { attempt: 'failed', transfers: backToQueue(transfers, true) };
  }
  const why = `failed on the network${status.reason === undefined ? '' : ` (${status.reason})`}`;
  return {
    attempt: status.state === 'final' ? 'succeeded' : 'failed',
    transfers: transfers.map((transfer, index): TransferVerdict => {
      const { transferId } = transfer;
      if (moved[index]) return { transferId, to: 'succeeded' };
      if (before[index]) return { transferId, to: 'succeeded', paidBefore: true };
      return failed(transfer, why, status.reason);
    }),
  };
}

/** Which items an earlier transaction had paid when this one came. Networks report them as ok or not: both mean the same. */
export function paidBefore({ paidBefore: reported }: TxStatus, count: number): boolean[] {
  return reported?.length === count ? reported : Array<boolean>(count).fill(false);
}

/**
 * Which items a transaction in a final block has moved; undefined where the answer leaves it open.
 *
 *     state    itemOk    partialBatch    moved
 *     final    none      false           all
 *     final    none      true            undefined: the state says nothing of single items
 *     failed   none      either          none
 *     final    [..]      true            those that are ok and not `paidBefore`
 *     final    [..]      false           the same; undefined where one is not ok: such a transaction pays all or fails
 *     failed   [..]      either          none; undefined where one is ok and not `paidBefore`: a contradiction
 *
 * Lists of another length than the items are undefined, too.
 */
export function movedItems(
  status: TxStatus,
  count: number,
  capabilities: ChainCapabilities,
): boolean[] | undefined {
  const { state, itemOk, paidBefore: reported } = status;
  const isFinal = state === 'final';
  if (reported !== undefined && reported.length !== count) return undefined;
  if (itemOk === undefined) {
    // Where items can fail one by one, the transaction's status does not decide theirs.
    return isFinal && capabilities.partialBatch ? undefined : Array<boolean>(count).fill(isFinal);
  }
  if (itemOk.length !== count) return undefined;
  const moved = itemOk.map((ok, i) => ok && reported?.[i] !== true);
  if (!isFinal) return moved.includes(true) ? undefined : moved;
  return !capabilities.partialBatch && itemOk.includes(false) ? undefined : moved;
}

/** Verdicts for the transfers of an attempt that breaks a rule of the network; nothing was signed for it. */
export function judgeUnbuildable(transfers: readonly AttemptTransfer[], reason: string): TransferVerdict[] {
  // One of them may be the cause: each is tried alone, so that only that one fails.
  if (transfers.length > 1) return backToQueue(transfers, true);
  return transfers.map((transfer) => failed(transfer, `could not be built (${reason})`));
}

/** Verdicts for the charge of an attempt that its signer never signs: as if the network had refused it. */
export function judgeRefused(
  transferIds: readonly string[],
  { fault, message }: { fault: ChargeFault; message: string },
): TransferVerdict[] {
  return transferIds.map((transferId) =>
    failed({ transferId, isCharge: true }, `is not signed (${message})`, fault),
  );
}

/** Splits queued transfers into transactions of at most `maxItemsPerTx`; those marked `alone` get one each. */
export function planAttempts<T extends { alone: boolean }>(
  queued: readonly T[],
  maxItemsPerTx: number,
): T[][] {
  const single = queued.filter((transfer) => transfer.alone).map((transfer) => [transfer]);
  const together = queued.filter((transfer) => !transfer.alone);
  const groups: T[][] = [];
  for (let i = 0; i < together.length; i += maxItemsPerTx) groups.push(together.slice(i, i + maxItemsPerTx));
  return [...groups, ...single];
}

/** The groups that the coins cover, in order; a group that is too large is skipped and blocks none behind it. */
export function selectAffordable<T extends { amount: bigint }>(
  planned: readonly T[][],
  coins: bigint,
): T[][] {
  let left = coins;
  return planned.filter((transfers) => {
    const amount = transfers.reduce((sum, transfer) => sum + transfer.amount, 0n);
    if (amount > left) return false;
    left -= amount;
    return true;
  });
}

/** What a wallet has for queued payments. */
interface PayableBy {
  coins: bigint;
  /** Those whose calls revert now. */
  reverting: ReadonlySet<string> | undefined;
  maxItemsPerTx: number;
}

/**
 * The payments that a wallet can send now, as the transactions that carry them. A payment that reverts although the wallet has its
 * coins is held and uses no coins. A payment above the wallet's coins reverts for that reason; it waits for coins.
 *
 * @returns isShort: some wait for coins; isHolding: some are held
 */
export function selectPayable<T extends { transfer_id: string; alone: boolean; amount: bigint }>(
  transfers: readonly T[],
  { coins, reverting, maxItemsPerTx }: PayableBy,
): { groups: T[][]; isShort: boolean; isHolding: boolean } {
  const isHeld = ({ transfer_id: id, amount }: T) => amount <= coins && reverting?.has(id) === true;
  const others = transfers.filter((one) => !isHeld(one));
  const groups = selectAffordable(planAttempts(others, maxItemsPerTx), coins);
  return {
    groups,
    isShort: groups.flat().length < others.length,
    isHolding: others.length < transfers.length,
  };
}

/** Half the interval at which a worker polls for due jobs: a shorter wait would change nothing. */
const POLL_MIN_MS = 250;
const POLL_MAX_MS = 60_000;
const BLOCK_MIN_SECONDS = 60;
const BLOCK_MAX_SECONDS = 3_600;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 15_000;
const MS_PER_SECOND = 1_000;
/** Each wait is a tenth of the age, so that slow transfers are polled rarely and late by a tenth at most. */
const WAIT_DIVISOR = 10;

const tenthOf = (ageSeconds: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, (ageSeconds * MS_PER_SECOND) / WAIT_DIVISOR));

/** Transfers that are undecided for longer are logged as a warning. */
export const ALARM_AFTER_SECONDS = 120;

/** The polling interval of undecided transfers, by the seconds since they were ordered. */
export function pollIntervalMs(ageSeconds: number): number {
  return tenthOf(ageSeconds, POLL_MIN_MS, POLL_MAX_MS);
}

/** A transaction in a block is polled when it should be final; an earlier poll would show nothing new. */
function pollDelayMs(ageSeconds: number, finalInMs = 0): number {
  return Math.max(pollIntervalMs(ageSeconds), Math.min(finalInMs, POLL_MAX_MS));
}

/** The retry interval of blocked transfers (an outage, a pause), by the seconds they have waited. */
export function retryMs(waitedSeconds: number): number {
  return tenthOf(waitedSeconds, RETRY_MIN_MS, RETRY_MAX_MS);
}

/** Between two tries of transfers whose signer waits for people: as long as they have waited, a minute to an hour. */
export function blockSeconds(waitedSeconds: number): number {
  return Math.min(BLOCK_MAX_SECONDS, Math.max(BLOCK_MIN_SECONDS, waitedSeconds));
}

/** Whether an attempt that its signer refused is not asked for again yet. A clock that ran ahead holds nothing up. */
export function isPausing(
  { refusedAt, createdAt }: { refusedAt: number | null; createdAt: number },
  nowSeconds: number,
): boolean {
  if (refusedAt === null || refusedAt > nowSeconds) return false;
  return nowSeconds < refusedAt + blockSeconds(refusedAt - createdAt);
}

/** The state of a group after a run. */
export interface GroupState {
  blockedBy: BlockedBy;
  /** Seconds of the merchant's clock since its transfers were ordered, whatever attempts were made since. */
  ageSeconds: number;
  /** Transfers without an attempt. */
  queued: number;
  /** Attempts that are not signed yet. */
  unsigned: number;
  /** For each attempt that may be sent: in how many milliseconds it should be final, where that is known. */
  sent: readonly (number | undefined)[];
}

export interface NextRun {
  waitMs: number;
  /**
   * Whether the wait follows the merchant's clock, by which a simulated chain makes blocks. Without sent attempts it is
   * real time: a block may last for months, and advancing the clock would stop at each retry.
   */
  followsClock: boolean;
}

/** When the group runs next; undefined when all of its transfers are decided. */
export function nextRun({ blockedBy, ageSeconds, queued, unsigned, sent }: GroupState): NextRun | undefined {
  if (queued + unsigned + sent.length === 0) return undefined;
  if (blockedBy === 'unavailable') return { waitMs: retryMs(ageSeconds), followsClock: false };
  const goesOn = blockedBy === 'none' || (blockedBy === 'waiting' && unsigned > 0);
  if (goesOn && queued + unsigned > 0) return { waitMs: 0, followsClock: true };
  const waits = [
    ...(queued + unsigned > 0 ? [retryMs(ageSeconds)] : []),
    ...sent.map((finalInMs) => pollDelayMs(ageSeconds, finalInMs)),
  ];
  return { waitMs: Math.min(...waits), followsClock: sent.length > 0 };
}

// A transaction that no block takes for its low fee is replaced by another version: the same sequence and payments for a
// higher fee. Of all versions one at most is mined. Each of them is watched, whichever is mined decides the attempt, and
// only that proves the others dead.

/** A version and its status on the chain. */
export interface VersionStatus {
  signed: SignedTx;
  status: TxStatus;
}

/**
 * The version that decides an attempt, or the newest one while none does, with the status of the attempt.
 *
 * @param versions oldest first, at least one
 */
export function decidingVersion(versions: readonly VersionStatus[]): VersionStatus {
  const newest = versions.at(-1);
  if (newest === undefined) throw new Error('an attempt has at least one version');
  if (versions.length === 1) return newest;
  const inBlock = versions.filter(({ status }) => ['included', 'final', 'failed'].includes(status.state));
  const [mined] = inBlock;
  // Two of them in blocks contradict each other: that decides nothing.
  if (mined !== undefined && inBlock.length === 1) return mined;
  if (inBlock.length === 0 && versions.every(({ status }) => status.state === 'dead' && status.final))
    return newest;
  const isInBlockOrMempool = inBlock.length > 0 || versions.some(({ status }) => status.state === 'pending');
  return {
    signed: newest.signed,
    status: { state: isInBlockOrMempool ? 'pending' : 'unknown', final: false },
  };
}

/** Ten blocks of Ethereum: a transaction at the market's fee is in one of the next two. */
export const REPLACE_AFTER_SECONDS = 120;
/** Each pays an eighth more at least: the last one ten times the first. */
export const VERSIONS_MAX = 20;

export interface StuckAttempt {
  /** Seconds since the newest version was to be sent. */
  sentFor: number;
  /** How many there are. */
  versions: number;
  /** The most that the newest can cost. */
  feeLimit: bigint;
  /** What such a transaction costs now. */
  presentFee: bigint;
}

const CLOCKS_DIFFER_SECONDS = 60;

/** Seconds since a version was to be sent. A time that is still to come was written by a clock that ran ahead: long ago, then. */
export function secondsSince(nowSeconds: number, sentAt: number): number {
  return sentAt > nowSeconds + CLOCKS_DIFFER_SECONDS
    ? REPLACE_AFTER_SECONDS
    : Math.max(0, nowSeconds - sentAt);
}

/** Whether to replace an attempt that no block holds; `alarm`: it should be, and has been too often. */
export function decideReplacement(stuck: StuckAttempt): 'wait' | 'replace' | 'alarm' {
  if (stuck.sentFor < REPLACE_AFTER_SECONDS || stuck.presentFee <= stuck.feeLimit) return 'wait';
  return stuck.versions < VERSIONS_MAX ? 'replace' : 'alarm';
}
