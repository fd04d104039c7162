// What holds for sessions, tries and codes, without I/O. Times are real Unix milliseconds by the database's clock.

const MINUTE_MS = 60_000;
const SESSION_MS = 12 * 60 * MINUTE_MS;
const IDLE_MS = 30 * MINUTE_MS;
const PROOF_MS = 5 * MINUTE_MS;
const WINDOW_MS = 15 * MINUTE_MS;
/** A time this far ahead was written under another clock: what depends on it holds no longer. */
const AHEAD_MS = MINUTE_MS;
const STEP_MS = 30_000;

export interface SessionTimes {
  createdAtMs: number;
  seenAtMs: number;
  endedAtMs: number | null;
}

/** Whether a session counts. @param movesMoney idle sessions of people who move money end early */
export function isSessionAlive(session: SessionTimes, nowMs: number, movesMoney: boolean): boolean {
  const { createdAtMs, seenAtMs, endedAtMs } = session;
  if (endedAtMs !== null || createdAtMs > nowMs + AHEAD_MS || seenAtMs > nowMs + AHEAD_MS) return false;
  return nowMs - createdAtMs < SESSION_MS && (!movesMoney || nowMs - seenAtMs < IDLE_MS);
}

/** Whether a change that asks for a fresh proof must ask again. */
export const isProofStale = (provedAtMs: number, nowMs: number): boolean =>
  nowMs - provedAtMs >= PROOF_MS || provedAtMs > nowMs + AHEAD_MS;

/** How many tries any 15 minutes may have. */
export const TRIES = { account: 10, address: 30, factor: 5 } as const;

/**
 * Admits one more try, or refuses it. Refused tries do not count, so that nobody is locked out for longer than the window;
 * times of a clock that was ahead count until they have passed.
 *
 * @returns the tries to remember; undefined: refused
 */
export function admitTry(timesMs: readonly number[], nowMs: number, max: number): number[] | undefined {
  const recent = timesMs.filter((time) => nowMs - time < WINDOW_MS);
  return recent.length >= max ? undefined : [...recent, nowMs];
}

/** The 30 s period of a time-based code. */
export const stepAt = (nowMs: number): number => Math.floor(nowMs / STEP_MS);

/**
 * The period whose code was given: the present one, or the one before or after it where clocks differ. A period up to
 * `usedStep` is spent: each code counts once.
 */
export function matchingStep(
  codeAt: (step: number) => string,
  code: string,
  nowMs: number,
  usedStep: number,
): number | undefined {
  const now = stepAt(nowMs);
  return [now, now - 1, now + 1].find((step) => step > usedStep && codeAt(step) === code);
}
