import type { BlockReason } from '../chains/port/index.ts';

/**
 * What a group is blocked by. `waiting`: no new attempts (paused, or the wallet is short); `held`: some attempts get no signature before
 * people act, and others do; `stopped`: no signatures at all; `unavailable`: no call to the network works.
 */
export type BlockedBy = 'none' | 'waiting' | 'held' | 'stopped' | 'unavailable';

/** Refusals that any other signature would meet as well. */
const REFUSES_ALL: ReadonlySet<BlockReason> = new Set([
  'frozen',
  'journal',
  'fee',
  'epoch',
  'tank',
  'reverts',
]);

/** What refused attempts leave of a run: `held` looks after what is sent, for which the same signer may sign. */
export const blockedByRefusal = (reason: BlockReason): 'held' | 'stopped' =>
  REFUSES_ALL.has(reason) ? 'stopped' : 'held';

/** The refusal that decides: one that stops everything is not hidden by one that waits for approvals. */
export const decidingRefusal = <T extends { reason: BlockReason }>(refusals: readonly T[]): T | undefined =>
  refusals.find(({ reason }) => blockedByRefusal(reason) === 'stopped') ?? refusals[0];

/** What a run is blocked by in the end. `waiting` would have the signer asked again at once for what it holds. */
export const blockedAfterAll = (before: BlockedBy, now: BlockedBy): BlockedBy =>
  before === 'held' && now === 'waiting' ? before : now;
