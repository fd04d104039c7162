import { ChainUnavailable } from '../port/port-errors.ts';
import type { SolanaNode } from './node.ts';
import { orUnavailable } from './node-answers.ts';

/** Reads that may fail in one attempt to tell which part of a list they fail for. */
const FAILURES_MAX = 40;

/** What the nodes' answers do not show, or not in a way that can be read, though they are there. */
export class Unread {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** That the nodes are there. @throws ChainUnavailable */
async function assertThere(node: SolanaNode): Promise<void> {
  await orUnavailable(node.agreed('getBlockHeight', [{ commitment: 'finalized' }]));
}

/**
 * Reads a list at once; where the nodes do not agree on all of it, in ever smaller parts, so that one that they do not agree on keeps none
 * of the others.
 *
 * @throws ChainUnavailable where the nodes are away, or agree on little of it
 */
export async function readApart<T, R>(
  node: SolanaNode,
  list: readonly T[],
  read: (some: readonly T[]) => Promise<readonly R[]>,
): Promise<(R | Unread)[]> {
  let failures = 0;
  const readPart = async (part: readonly T[]): Promise<(R | Unread)[]> => {
    try {
      return [...(await read(part))];
    } catch (error) {
      failures += 1;
      if (!(error instanceof ChainUnavailable) || failures > FAILURES_MAX) throw error;
      if (failures === 1) await assertThere(node);
      if (part.length <= 1) return part.map(() => new Unread(error.message));
      const middle = part.length >> 1;
      const before = await readPart(part.slice(0, middle));
      return [...before, ...(await readPart(part.slice(middle)))];
    }
  };
  return list.length === 0 ? [] : await readPart(list);
}
