import { ConnectionError, type FlorinError, RateLimitError, TimeoutError } from './errors.ts';

/** A longer Retry-After than this is the caller's decision, not a pause inside a call. */
const RETRY_AFTER_MAX_SECONDS = 60;
const PAUSE_MAX_MS = 8_000;

/**
 * The effect of a failed attempt. `untouched`: nothing was done, any call may be repeated.
 * `doubt`: it may have been done. `final`: the service has decided, repeating changes nothing.
 */
export type Verdict = 'untouched' | 'doubt' | 'final';

export function judge(error: FlorinError): Verdict {
  // Its day is over only at midnight UTC: no pause inside a call helps.
  if (error.code === 'DAILY_REFUND_LIMIT_EXCEEDED') return 'final';
  if (error instanceof RateLimitError || error.status === 408) return 'untouched';
  if (error instanceof ConnectionError) return error.neverSent ? 'untouched' : 'doubt';
  if (error instanceof TimeoutError) return 'doubt';
  return error.status !== undefined && error.status >= 500 ? 'doubt' : 'final';
}

/**
 * Pause before retry number `retry` (from 0): what the service requested and up to a base pause more, else a random
 * part of a doubling pause, so that clients that failed together do not come back together. Undefined: give up.
 */
export function pauseMs(error: FlorinError, retry: number, basePauseMs: number): number | undefined {
  const requested = error.retryAfterSeconds;
  if (requested === undefined) return Math.random() * Math.min(PAUSE_MAX_MS, basePauseMs * 2 ** retry);
  return requested > RETRY_AFTER_MAX_SECONDS ? undefined : requested * 1000 + Math.random() * basePauseMs;
}
