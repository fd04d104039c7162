import type { ChainCaps, TxStatus } from '../chains/index.ts';

// Send once. A transfer is `queued` until an attempt carries it (`sending`), and ends `succeeded` or `failed`; it goes
// back to `queued` only when its attempt is provably over without having paid it. An attempt goes
// reserved (its sequence is taken) → signed (its bytes are stored) → sent → succeeded | failed | dead.
// Invariant: a transfer has at most one attempt that may still pay it, and bytes are sent only after they are stored.
// Given up after reserved: nothing was sent, the same attempt is built again. After signed or sent: the stored bytes
// are sent again, which a chain takes as the same transaction. Nothing but `final` or `dead` on the chain ends it.

export type TransferStatus = 'queued' | 'sending' | 'succeeded' | 'failed';
export type AttemptStatus = 'reserved' | 'signed' | 'sent' | 'succeeded' | 'failed' | 'dead';
export type TransferFailure = 'address_risk' | 'transfer_failed';

export interface Member {
  transferId: string;
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

const failed = (transferId: string, reason: string | undefined): MemberVerdict => ({
  transferId,
  to: 'failed',
  code: 'transfer_failed',
  message: `The transfer failed on the network${reason === undefined ? '' : ` (${reason})`}. Nothing was paid.`,
});

/**
 * Judges an attempt by what the chain says of it. Undefined: not decided yet, look again.
 *
 * @param members in the order of the transaction's items
 */
export function judge(status: TxStatus, members: readonly Member[], caps: ChainCaps): Verdict | undefined {
  if (status.state === 'dead') {
    return {
      attempt: 'dead',
      members: members.map(({ transferId }) => ({ transferId, to: 'queued', alone: false })),
    };
  }
  if (!status.final || (status.state !== 'final' && status.state !== 'failed')) return undefined;
  // Where one bad item fails them all, the group is split: each is tried alone, so that only the bad one fails.
  if (status.state === 'failed' && !caps.partialBatch && members.length > 1) {
    return {
      attempt: 'failed',
      members: members.map(({ transferId }) => ({ transferId, to: 'queued', alone: true })),
    };
  }
  const paid = (index: number) => status.itemOk?.[index] ?? status.state === 'final';
  return {
    attempt: status.state === 'final' ? 'succeeded' : 'failed',
    members: members.map(({ transferId }, index) =>
      paid(index) ? { transferId, to: 'succeeded' } : failed(transferId, status.reason),
    ),
  };
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

const LOOK_AGAIN_MIN_MS = 500;
const LOOK_AGAIN_MAX_MS = 60_000;

/** When to look at an undecided attempt again: often at first, then at a tenth of its age. */
export function lookAgainMs(ageSeconds: number): number {
  return Math.min(LOOK_AGAIN_MAX_MS, Math.max(LOOK_AGAIN_MIN_MS, ageSeconds * 100));
}
