import type { BlockReason } from '../chains/port/index.ts';

/**
 * What a group is blocked by. `waiting`: no new attempts (paused, or the wallet is short); `held`: some attempts get no signature before
 * people act, and others do; `stopped`: no signatures at all; `unavailable`: no call to the network works.
 */
export type BlockedBy = 'none' | 'waiting' | 'held' | 'stopped' | 'unavailable';

/** Refusals that any other signature would meet as well, what most needs somebody first. */
const REFUSES_ALL: readonly BlockReason[] = ['frozen', 'journal', 'epoch', 'fee', 'tank'];

/** What refused attempts leave of a run: `held` looks after what is sent, for which the same signer may sign. */
export const blockedByRefusal = (reason: BlockReason): 'held' | 'stopped' =>
  REFUSES_ALL.includes(reason) ? 'stopped' : 'held';

/** A payment that would fail now is its own fault and may pass by itself: that hides nothing else. */
const rankOf = (reason: BlockReason): number => {
  const rank = REFUSES_ALL.indexOf(reason);
  if (rank >= 0) return rank;
  return reason === 'reverts' ? REFUSES_ALL.length + 1 : REFUSES_ALL.length;
};

/** The refusal that decides, whatever their order: one that stops everything is not hidden by one that waits for approvals. */
export const decidingRefusal = <T extends { reason: BlockReason }>(refusals: readonly T[]): T | undefined =>
  refusals.toSorted((a, b) => rankOf(a.reason) - rankOf(b.reason))[0];

/** What a run is blocked by in the end. `waiting` would have the signer asked again at once for what it holds. */
export const blockedAfterAll = (before: BlockedBy, now: BlockedBy): BlockedBy =>
  before === 'held' && now === 'waiting' ? before : now;
