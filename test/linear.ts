import { expect } from 'vitest';
import { FULL } from './scale.ts';

/** A square shows long before. */
export const LAST = FULL ? 1_048_576 : 262_144;
/** Wide steps tell a square from what a noisy machine adds: it takes 256 times as long, and a line with its memory 16 to 80. */
const STEP = 16;
const FIRST = LAST / STEP ** 3;
const FACTOR_MAX = 40;
/** What a noisy machine adds to a short run. */
const NOISE_MS = 15;
/** Where a reader makes a value of every other character, clearing them away costs more than in proportion. */
export const MANY_VALUES = { factorMax: 80, noiseMs: 50 };
/** The first run warms up, and what a noisy one takes must not allow the next length more. */
const TRIES = { min: 2, max: 5 };

/** Milliseconds of this process's CPU, so that other programs of the machine count little. */
async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The best of a few runs: more than two are needed only where they take longer than they may. */
async function bestOf(work: () => unknown, enoughMs: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let at = 0; at < TRIES.min || (at < TRIES.max && best >= enoughMs); at++) {
    best = Math.min(best, await cpuMsOf(work));
  }
  return best;
}

/**
 * Grows an input in three steps to 256 KiB, and in a full run to 1 MiB: the work may grow with it, and never by its
 * square. A reader that squares it fails at the first length where that shows, long before it would hold a test up.
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
    expect(now, `${length} characters take ${now} ms, a sixteenth of them ${before} ms`).toBeLessThan(
      allowed,
    );
    before = now;
  }
}

/** `piece` again and again, up to a length, and what comes at the end. */
export const again =
  (piece: string, end = '') =>
  (length: number): string =>
    piece.repeat(Math.ceil(length / piece.length)).slice(0, length - end.length) + end;
