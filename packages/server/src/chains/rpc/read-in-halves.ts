import { AnswersDiffer } from '../port/port-errors.ts';

/** Parts that were read in vain: whoever makes many unreadable costs so many calls, and the rest waits. */
const SPLITS_MAX = 20;

/**
 * Reads the list in one call; where endpoints disagree or a part cannot be read, halves it. After `SPLITS_MAX` halved parts the next one that
 * would be halved ends it: the rest is left unread.
 *
 * @param read undefined: it cannot be read in this part
 * @returns in the order of the list; undefined: this one cannot be read, asked alone, or too many could not be
 * @throws what `read` throws, but `AnswersDiffer`
 */
export async function readInHalves<T, Read>(
  list: readonly T[],
  read: (part: readonly T[]) => Promise<readonly Read[] | undefined>,
): Promise<(Read | undefined)[]> {
  let splits = 0;
  // Wide parts come first, so that of those which can be read most are before the end.
  const found = Array.from({ length: list.length }, (): Read | undefined => undefined);
  const parts = [{ start: 0, part: list }];
  for (let next = parts.shift(); next !== undefined; next = parts.shift()) {
    const { start, part } = next;
    if (part.length === 0) continue;
    const together = await read(part).catch(unlessDiffering);
    for (const [i, one] of (together ?? []).entries()) found[start + i] = one;
    if (together !== undefined || part.length === 1) continue;
    splits += 1;
    if (splits > SPLITS_MAX) break;
    const half = part.length >> 1;
    parts.push({ start, part: part.slice(0, half) }, { start: start + half, part: part.slice(half) });
  }
  return found;
}

function unlessDiffering(error: unknown): undefined {
  if (!(error instanceof AnswersDiffer)) throw error;
}
