import { expect } from 'vitest';

const FIRST = 256;
const LAST = 1_048_576;
const STEP = 4;
/** Four times the input is four times the work, and some more for memory; a square would be sixteen times as much. */
const FACTOR_MAX = 7;
/** What a noisy machine adds to a short run. */
const NOISE_MS = 15;
/** Where a reader makes a value of every other character, clearing them away costs more than in proportion. */
export const MANY_VALUES = { factorMax: 12, noiseMs: 50 };
const TRIES = 5;

/** Milliseconds of this process's CPU, so that other programs of the machine count little. */
async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The best of a few runs: more than one is needed only where the first takes longer than it may. */
async function bestOf(work: () => unknown, enoughMs: number): Promise<number> {
  let best = await cpuMsOf(work);
  for (let at = 1; at < TRIES && best >= enoughMs; at++) best = Math.min(best, await cpuMsOf(work));
  return best;
}

/**
 * Grows an input from 256 characters to 1 MiB: the work may grow with it, and never by its square. A reader that squares
 * it fails at the first length where that shows, long before it would hold a test up.
 */
export async function expectLinear(
  worst: (length: number) => string,
  read: (text: string) => unknown,
  { factorMax, noiseMs } = { factorMax: FACTOR_MAX, noiseMs: NOISE_MS },
): Promise<void> {
  let before = await bestOf(() => read(worst(FIRST)), 1);
  for (let length = STEP * FIRST; length <= LAST; length *= STEP) {
    const text = worst(length);
    const allowed = factorMax * before + noiseMs;
    const now = await bestOf(() => read(text), allowed);
    expect(now, `${length} characters take ${now} ms, a quarter of them ${before} ms`).toBeLessThan(allowed);
    before = now;
  }
}

/** `piece` again and again, up to a length, and what comes at the end. */
export const again =
  (piece: string, end = '') =>
  (length: number): string =>
    piece.repeat(Math.ceil(length / piece.length)).slice(0, length - end.length) + end;
