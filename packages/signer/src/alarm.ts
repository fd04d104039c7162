import type { Refusal } from './protocol.ts';

const WITHIN_MS = 60_000;

/** Refusals that a server which works as it should never gets. */
const SUSPICIOUS: ReadonlySet<Refusal> = new Set<Refusal>([
  'purpose',
  'sequence',
  'item_signed',
  'approvals',
]);

/** Counts attempts that were refused; one that is asked for again and again counts once. */
export class Alarm {
  readonly #most: number;
  readonly #refused = new Map<string, number>();

  /** @param most so many within a minute are too many */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * @param now Unix milliseconds of a clock that may be put back
   * @returns how many there were, where these are too many
   */
  refused(code: Refusal, attempt: string, now: number): number | undefined {
    if (!SUSPICIOUS.has(code)) return undefined;
    this.#refused.set(attempt, now);
    for (const [other, at] of this.#refused) if (Math.abs(now - at) >= WITHIN_MS) this.#refused.delete(other);
    return this.#refused.size >= this.#most ? this.#refused.size : undefined;
  }

  reset(): void {
    this.#refused.clear();
  }
}
