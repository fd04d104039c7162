import type { SignedTx, TxStatus } from '../../chains/port/index.ts';

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

/** Whether to replace an attempt that no block holds; `alarm`: it should be, and has been too often. */
export function decideReplacement(stuck: StuckAttempt): 'wait' | 'replace' | 'alarm' {
  if (stuck.sentFor < REPLACE_AFTER_SECONDS || stuck.presentFee <= stuck.feeLimit) return 'wait';
  return stuck.versions < VERSIONS_MAX ? 'replace' : 'alarm';
}
