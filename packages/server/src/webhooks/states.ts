import {
  type DeliveryFailure,
  EVENT_TYPES,
  type RecordedEventType,
  type WebhookEventChoice,
} from '@florin/contract/schemas';
import { Moves } from '../platform/db/guards/index.ts';
import type { DeliveryStatus, EndpointStatus } from './tables.ts';

// A delivery: pending → delivered | failed | exhausted; pending ↔ paused while its endpoint is disabled; a redelivery
// moves delivered, failed and exhausted back to pending.
// Invariant: a series is one attempt and at most ten retries; retry n is due 2ⁿ minutes of the merchant's clock after
// attempt n began. A crash between an attempt and its record leaves the delivery pending, and it is sent once more.

/** A paused delivery ends by an attempt that was under way when its endpoint was disabled. */
export const DELIVERY_MOVES = new Moves<DeliveryStatus>('a delivery', {
  pending: ['delivered', 'failed', 'exhausted', 'paused'],
  paused: ['pending', 'delivered', 'failed', 'exhausted'],
  delivered: ['pending'],
  failed: ['pending'],
  exhausted: ['pending'],
});

export const ENDPOINT_MOVES = new Moves<EndpointStatus>('a webhook endpoint', {
  enabled: ['disabled'],
  disabled: ['enabled'],
});

export const RETRIES_MAX = 10;

/** The outcome of an attempt: the answer's status, or why there was none. */
export type DeliveryOutcome =
  | { status: number }
  | { failure: Exclude<DeliveryFailure, 'http_status' | 'redirect'> };

export interface Verdict {
  /** Null: acknowledged. */
  failure: DeliveryFailure | null;
  /** Whether a failed attempt is followed by a retry. */
  retried: boolean;
}

/** 2xx acknowledges; 429, 5xx and no answer at all are retried; everything else is final. */
export function judgeAnswer(outcome: DeliveryOutcome): Verdict {
  if ('failure' in outcome) return { failure: outcome.failure, retried: true };
  const { status } = outcome;
  if (status >= 200 && status <= 299) return { failure: null, retried: false };
  if (status >= 300 && status <= 399) return { failure: 'redirect', retried: false };
  return { failure: 'http_status', retried: status === 429 || (status >= 500 && status <= 599) };
}

export interface NextState {
  status: Exclude<DeliveryStatus, 'paused'>;
  seriesAttempts: number;
  /** The merchant's clock, Unix seconds; meaningless unless pending. */
  dueAt: number;
}

/**
 * The delivery's state after an attempt.
 *
 * @param attempt the attempts of its series before it, and when it began by the merchant's clock
 */
export function afterAttempt(
  attempt: { seriesAttempts: number; beganAt: number },
  { failure, retried }: Verdict,
): NextState {
  const seriesAttempts = attempt.seriesAttempts + 1;
  const next = { seriesAttempts, dueAt: attempt.beganAt };
  if (failure === null) return { ...next, status: 'delivered' };
  if (!retried) return { ...next, status: 'failed' };
  if (seriesAttempts > RETRIES_MAX) return { ...next, status: 'exhausted' };
  return { ...next, status: 'pending', dueAt: attempt.beganAt + 60 * 2 ** seriesAttempts };
}

const SPECIFIED: ReadonlySet<string> = new Set(EVENT_TYPES);

/** Whether an endpoint with these types receives events of that type; `*` matches every type but the opt-in ones. */
export function wants(types: readonly WebhookEventChoice[], type: RecordedEventType): boolean {
  return types.some((choice) => choice === type || (choice === '*' && SPECIFIED.has(type)));
}

/** Failed attempts of an endpoint since its last acknowledgement. */
export interface Health {
  failures: number;
  /** Real time at which the first of them began. */
  failingSinceMs: number | null;
}

const DISABLE_AFTER_FAILURES = 10;

const WARN_AT_FAILURES = 3;

/** Whether one of the newest failures is the third in a row, at which the merchant is warned. */
export const isWarned = ({ failures }: Health, newFailures: number): boolean =>
  failures >= WARN_AT_FAILURES && failures - newFailures < WARN_AT_FAILURES;

/** Whether to disable an endpoint: ten or more failures, the first at least `afterSeconds` ago. */
export function shouldDisable(
  { failures, failingSinceMs }: Health,
  { nowMs, afterSeconds }: { nowMs: number; afterSeconds: number },
): boolean {
  const isLong = failingSinceMs !== null && nowMs - failingSinceMs >= afterSeconds * 1000;
  return failures >= DISABLE_AFTER_FAILURES && isLong;
}

const BREAKER_FAILURES = 5;

/** Whether an endpoint keeps failing: five or more failures since its last acknowledgement. */
export function isFailing(failures: number): boolean {
  return failures >= BREAKER_FAILURES;
}

/** How many attempts of an endpoint may be in flight: one for an endpoint that keeps failing. */
export function maxInFlight(failures: number, most: number): number {
  return isFailing(failures) ? 1 : most;
}
