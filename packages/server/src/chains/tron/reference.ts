import { type Header, readHeader } from './headers.ts';
import type { TronNode } from './node.ts';
import { orUnavailable, unusable } from './node-answers.ts';

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

/** A solid block, which no fork takes away, and the time of the newest one. @throws ChainUnavailable */
export async function readReference(node: TronNode, final: Header): Promise<Reference> {
  const head = readHeader(await orUnavailable(node.newest('head')));
  if (head === undefined) throw unusable('there is no newest block');
  if (head.timeMs < final.timeMs || head.timeMs > final.timeMs + HEAD_MS_MAX)
    throw unusable('the time of the newest block is not a little later than that of the solid one');
  return {
    refBlockBytes: Uint8Array.from(Buffer.from(final.hash.slice(12, 16), 'hex')),
    refBlockHash: Uint8Array.from(Buffer.from(final.hash.slice(16, 32), 'hex')),
    headMs: head.timeMs,
    second: head.timeMs - (head.timeMs % SECOND_MS),
  };
}
