import type { Delivery, DeliveryAttempt } from '@florin/sdk';
import { columnsOf, timeOf } from './columns.ts';

/** The outcome of an attempt: `200`, `503`, `timeout`. */
const resultOf = ({ status_code, failure }: DeliveryAttempt) => status_code ?? failure;

/** One line of a list. */
export const summaryOf = columnsOf<Delivery>()(
  'id status attempts last next=next_attempt_at event=event_id endpoint=endpoint_id created',
  {
    attempts: ({ attempts }) => attempts.length,
    last: ({ attempts }) => attempts.map(resultOf).at(-1),
  },
);

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
