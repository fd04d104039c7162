// What holds for sessions, tries and codes, without I/O. Times are real Unix milliseconds by the database's clock.

const MINUTE_MS = 60_000;
/** How long a session lives at most. */
export const SESSION_MS = 12 * 60 * MINUTE_MS;
/** How long a session of somebody who moves money may be idle. */
export const IDLE_MS = 30 * MINUTE_MS;
const PROOF_MS = 5 * MINUTE_MS;
const WINDOW_MS = 15 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
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

export interface TryLimit {
  max: number;
  /** Any time of this length has at most so many tries. */
  windowMs: number;
}

/**
 * Whoever is signed in has limits of their own, so that strangers who guess lock nobody out of a change. Codes are short:
 * whoever knows the password has no more than these tries a day.
 */
export const TRIES = {
  account: { max: 10, windowMs: WINDOW_MS },
  address: { max: 30, windowMs: WINDOW_MS },
  factor: { max: 5, windowMs: WINDOW_MS },
  factor_day: { max: 30, windowMs: DAY_MS },
  proof: { max: 10, windowMs: WINDOW_MS },
  proof_factor: { max: 5, windowMs: WINDOW_MS },
  proof_factor_day: { max: 30, windowMs: DAY_MS },
  /** Invitations to an address, and from the people of a merchant. */
  mail_to: { max: 5, windowMs: DAY_MS },
  mail_from: { max: 100, windowMs: DAY_MS },
  /** Of a person who hears that their factors were reset: nobody's invitations use them up. */
  mail_reset: { max: 5, windowMs: DAY_MS },
} as const satisfies Record<string, TryLimit>;

/** Tries of longer ago count nowhere. */
export const FORGOTTEN_MS = 2 * DAY_MS;

/**
 * Admits one more try, or refuses it. Refused tries do not count, so that nobody is locked out for longer than the window;
 * times of a clock that was ahead count until they have passed.
 *
 * @returns the tries to remember; undefined: refused
 */
export function admitTry(
  timesMs: readonly number[],
  nowMs: number,
  { max, windowMs }: TryLimit,
): number[] | undefined {
  const recent = timesMs.filter((time) => nowMs - time < windowMs);
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
