import { CHARGE_FAULTS, type ChainCaps, type ChargeFault, type TxStatus } from '../chains/index.ts';

// Send once. A transfer is `queued` until an attempt carries it (`sending`), and ends `succeeded` or `failed`; it goes
// back to `queued` only when its attempt is provably over without having paid it. An attempt goes
// reserved (its sequence is taken) → signed (its bytes are stored) → sent → succeeded | failed | dead.
// Invariant: a transfer has at most one attempt that may still pay it, and bytes are sent only after they are stored.
// Given up after reserved: nothing was sent, the same attempt is built again. After signed or sent: the stored bytes
// are sent again, which a chain takes as the same transaction. Nothing but `final` or `dead` on the chain ends it.
// One that cannot be built, or would pay an address that was listed since, was never sent: reserved → failed, its transfers
// go back or fail. A sequence that it held goes to another attempt, which pays one unit to our own wallet, as a gap would
// hold up all later sequences.
// A charge is a transfer that comes from its address instead of going there: it goes the same way, alone in its group,
// needs no coins of ours, and fails for the payer's reasons.

export type TransferStatus = 'queued' | 'sending' | 'succeeded' | 'failed';
export type AttemptStatus = 'reserved' | 'signed' | 'sent' | 'succeeded' | 'failed' | 'dead';
/** A charge's own faults, where the network names one; `network_unavailable`: it was not sent in its time, nobody's fault. */
export type TransferFailure = 'address_risk' | 'transfer_failed' | 'network_unavailable' | ChargeFault;

export interface Member {
  transferId: string;
  isCharge?: boolean;
}

/** What becomes of one transfer when its attempt is over. */
export type MemberVerdict =
  | { transferId: string; to: 'succeeded' }
  | { transferId: string; to: 'failed'; code: TransferFailure; message: string }
  /** Another attempt may be made; `alone` where its company may have been the cause. */
  | { transferId: string; to: 'queued'; alone: boolean };

export interface Verdict {
  attempt: 'succeeded' | 'failed' | 'dead';
  members: MemberVerdict[];
}

function failed({ transferId, isCharge = false }: Member, why: string, reason?: string): MemberVerdict {
  const fault = isCharge ? CHARGE_FAULTS.find((known) => known === reason) : undefined;
  const what = isCharge ? 'charge' : 'transfer';
  const message = `The ${what} ${why}. Nothing was paid.`;
  return { transferId, to: 'failed', code: fault ?? 'transfer_failed', message };
}

const backToQueue = (members: readonly Member[], alone: boolean): MemberVerdict[] =>
  members.map(({ transferId }) => ({ transferId, to: 'queued', alone }));

/**
 * Judges an attempt by what the chain says of it. Undefined: not decided, look again. An answer that contradicts
 * itself, or leaves open which items were paid, decides nothing.
 *
 * @param members in the order of the transaction's items
 */
export function judge(status: TxStatus, members: readonly Member[], caps: ChainCaps): Verdict | undefined {
  if (!status.final) return undefined;
  if (status.state === 'dead') return { attempt: 'dead', members: backToQueue(members, false) };
  if (status.state !== 'final' && status.state !== 'failed') return undefined;
  const paid = paidItems(status, members.length, caps);
  if (paid === undefined) return undefined;
  // Where one bad item fails them all, the group is split: each is tried alone, so that only the bad one fails.
  if (status.state === 'failed' && !caps.partialBatch && members.length > 1) {
    return { attempt: 'failed', members: backToQueue(members, true) };
  }
  const why = `failed on the network${status.reason === undefined ? '' : ` (${status.reason})`}`;
  return {
    attempt: status.state === 'final' ? 'succeeded' : 'failed',
    members: members.map((member, index) =>
      paid[index] ? { transferId: member.transferId, to: 'succeeded' } : failed(member, why, status.reason),
    ),
  };
}

/** Which items a transaction in a final block has paid; undefined where the answer does not say. */
export function paidItems(
  { state, itemOk }: TxStatus,
  count: number,
  caps: ChainCaps,
): boolean[] | undefined {
  const isFinal = state === 'final';
  if (itemOk === undefined) {
    // Where items go their own way, the transaction's fate is not theirs.
    return isFinal && caps.partialBatch ? undefined : Array<boolean>(count).fill(isFinal);
  }
  if (itemOk.length !== count) return undefined;
  if (!isFinal) return itemOk.includes(true) ? undefined : itemOk;
  return !caps.partialBatch && itemOk.includes(false) ? undefined : itemOk;
}

/** What becomes of the transfers of an attempt that breaks a rule of the network, before anything was signed. */
export function judgeUnbuildable(members: readonly Member[], reason: string): MemberVerdict[] {
  // One of them may be the cause: each is tried alone, so that only that one fails.
  if (members.length > 1) return backToQueue(members, true);
  return members.map((member) => failed(member, `could not be built (${reason})`));
}

/** Splits queued transfers into transactions: as many together as the network takes, the lone ones by themselves. */
export function planAttempts<T extends { alone: boolean }>(
  queued: readonly T[],
  maxItemsPerTx: number,
): T[][] {
  const lone = queued.filter((transfer) => transfer.alone).map((transfer) => [transfer]);
  const together = queued.filter((transfer) => !transfer.alone);
  const groups: T[][] = [];
  for (let i = 0; i < together.length; i += maxItemsPerTx) groups.push(together.slice(i, i + maxItemsPerTx));
  return [...groups, ...lone];
}

/** Those that the coins cover, in their order: one that is too large holds up none behind it. */
export function fitting<T extends { amount: bigint }>(planned: readonly T[][], coins: bigint): T[][] {
  let left = coins;
  return planned.filter((members) => {
    const amount = members.reduce((sum, member) => sum + member.amount, 0n);
    if (amount > left) return false;
    left -= amount;
    return true;
  });
}

/** Half the time in which a worker notices what is due: a faster look would come no sooner. */
const LOOK_AGAIN_MIN_MS = 250;
const LOOK_AGAIN_MAX_MS = 60_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 15_000;
const MS_PER_SECOND = 1_000;
/** Each wait is a tenth of the age: what takes long is looked at rarely, and late by a tenth at most. */
const WAIT_SHARE = 10;

const tenthOf = (ageSeconds: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, (ageSeconds * MS_PER_SECOND) / WAIT_SHARE));

/** When to look again at transfers that were ordered so long ago and are not decided. */
export function lookAgainMs(ageSeconds: number): number {
  return tenthOf(ageSeconds, LOOK_AGAIN_MIN_MS, LOOK_AGAIN_MAX_MS);
}

/** What is in a block is looked at when it should be final; earlier looks would only show that it still is there. */
function lookMs(ageSeconds: number, finalInMs = 0): number {
  return Math.max(lookAgainMs(ageSeconds), Math.min(finalInMs, LOOK_AGAIN_MAX_MS));
}

/** When to try again what is held up (an outage, a pause), for transfers that wait so long already. */
export function retryMs(waitedSeconds: number): number {
  return tenthOf(waitedSeconds, RETRY_MIN_MS, RETRY_MAX_MS);
}

/**
 * What keeps transfers back: `held` only new attempts (paused, or the wallet is short), `stopped` new bytes as well,
 * `unavailable` every call to the network.
 */
export type Hindrance = 'none' | 'held' | 'stopped' | 'unavailable';

/** How a group stands after a run. */
export interface Standing {
  hindrance: Hindrance;
  /** Seconds of the merchant's clock since its transfers were ordered, whatever attempts were made since. */
  ageSeconds: number;
  /** Transfers without an attempt. */
  queued: number;
  /** Attempts whose bytes are still to be made. */
  unsigned: number;
  /** Attempts whose bytes may be out: in how many milliseconds each is expected to be final, where that is known. */
  sent: readonly (number | undefined)[];
}

export interface NextRun {
  waitMs: number;
  /**
   * Whether the wait is one of the merchant's clock, by which the chain makes blocks. Where nothing is out there it is
   * real time: what holds a group up may take months, and a clock that is moved ahead would stop at each look.
   */
  followsClock: boolean;
}

/** When the group runs next; undefined when all of it is decided. */
export function nextRun({ hindrance, ageSeconds, queued, unsigned, sent }: Standing): NextRun | undefined {
  if (queued + unsigned + sent.length === 0) return undefined;
  if (hindrance === 'unavailable') return { waitMs: retryMs(ageSeconds), followsClock: false };
  const goesOn = hindrance === 'none' || (hindrance === 'held' && unsigned > 0);
  if (goesOn && queued + unsigned > 0) return { waitMs: 0, followsClock: true };
  const waits = [
    ...(queued + unsigned > 0 ? [retryMs(ageSeconds)] : []),
    ...sent.map((finalInMs) => lookMs(ageSeconds, finalInMs)),
  ];
  return { waitMs: Math.min(...waits), followsClock: sent.length > 0 };
}
