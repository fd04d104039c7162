import type { Refusal } from './protocol.ts';

/** A request that is not signed, and why. */
export class Refused extends Error {
  readonly code: Refusal;
  /** With `unknown_attempts`: the first ordinal that is missing; null: all of them. */
  readonly from: string | null;

  constructor(code: Refusal, message: string, from: string | null = null) {
    super(message);
    this.code = code;
    this.from = from;
  }
}
