import type { Delivery, DeliveryAttempt } from '@florin/sdk';
import { timeOf } from './merchant.ts';

/** What an attempt came to, in a word: `200`, `503`, `timeout`. */
const resultOf = ({ status_code, failure }: DeliveryAttempt) => status_code ?? failure;

/** One line of a list. */
export function summaryOf(delivery: Delivery) {
  const last = delivery.attempts.at(-1);
  return {
    id: delivery.id,
    status: delivery.status,
    attempts: delivery.attempts.length,
    last: last === undefined ? null : resultOf(last),
    next: delivery.next_attempt_at === null ? null : timeOf(delivery.next_attempt_at),
    event: delivery.event_id,
    endpoint: delivery.endpoint_id,
    created: timeOf(delivery.created),
  };
}

/** One line of a delivery's attempts. */
export function attemptRow(attempt: DeliveryAttempt, at: number) {
  return {
    attempt: at + 1,
    at: timeOf(attempt.at),
    result: resultOf(attempt),
    failure: attempt.failure,
    ms: attempt.duration_ms,
    response: attempt.response,
  };
}
