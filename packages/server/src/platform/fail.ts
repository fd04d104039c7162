import type { FailCode } from '@florin/contract/failures';

export type { FailCode };

export interface FailDetails {
  /** For a person: what is wrong and what to do. Never holds inner text. */
  message: string;
  /** Path of the parameter at fault: `items[0].amount`, `limit`, `Idempotency-Key`. */
  param?: string;
  /** Seconds after which to come back (429, 503). */
  retryAfterSeconds?: number;
  /** Why a charge failed, and the id of its payment. */
  declineCode?: string;
  charge?: string;
  /** Methods that the path knows (405). */
  allow?: readonly string[];
  /** The cause: for the log, never for the caller. */
  cause?: unknown;
}

/** The one error that an operation throws for its caller to see. Anything else is a 500 without inner text. */
export class Fail extends Error {
  readonly code: FailCode;
  readonly details: FailDetails;

  constructor(code: FailCode, details: FailDetails | string) {
    const full = typeof details === 'string' ? { message: details } : details;
    super(full.message, { cause: full.cause });
    this.code = code;
    this.details = full;
  }
}

/** The refusal of a parameter by its path. */
export const invalidParam = (param: string, message: string) =>
  new Fail('invalid_request', { message, param });

/** A state that the code holds to be impossible: never a caller's fault. */
export function invariant(holds: unknown, what: string): asserts holds {
  if (!holds) throw new Error(`invariant broken: ${what}`);
}
