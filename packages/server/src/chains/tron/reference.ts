import type { Snapshot } from './feed.ts';
import { unusable } from './node-answers.ts';

const SECOND_MS = 1_000n;
/** The newest block is less than a minute later than the solid one, as a rule. */
const HEAD_MS_MAX = 600_000n;

/** What a transaction names of the chain. */
export interface Reference {
  refBlockBytes: Uint8Array;
  refBlockHash: Uint8Array;
  /** Of the newest block, in milliseconds; and its whole second. */
  headMs: bigint;
  second: bigint;
}

/**
 * A solid block, which no fork takes away, and the time of the newest one: as all see them who date something within a block's
 * time.
 *
 * @throws ChainUnavailable
 */
export function referenceOf({ head, final }: Snapshot): Reference {
  if (head.timeMs > final.timeMs + HEAD_MS_MAX)
    throw unusable('the newest block is much later than the solid one');
  return {
    refBlockBytes: Uint8Array.from(Buffer.from(final.hash.slice(12, 16), 'hex')),
    refBlockHash: Uint8Array.from(Buffer.from(final.hash.slice(16, 32), 'hex')),
    headMs: head.timeMs,
    second: head.timeMs - (head.timeMs % SECOND_MS),
  };
}
