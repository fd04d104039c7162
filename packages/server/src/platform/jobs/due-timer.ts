const TIMER_MAX_MS = 2 ** 31 - 1;
/** Due times are rounded up to a multiple of this, so that jobs due close together share one timer. */
const RESOLUTION_MS = 20;

/** Calls `onDue` for a merchant when one of its jobs becomes due, so that no job waits for the next poll. */
export class DueTimer {
  readonly #nowMs: () => number;
  readonly #onDue: (merchantId: string) => void;
  /** By rounded due time: few entries, however many merchants there are. */
  readonly #merchants = new Map<number, Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor({ nowMs, onDue }: { nowMs: () => number; onDue: (merchantId: string) => void }) {
    this.#nowMs = nowMs;
    this.#onDue = onDue;
  }

  /** Schedules `onDue` for this merchant. */
  add(merchantId: string, dueAtMs: number): void {
    const atMs = Math.ceil(dueAtMs / RESOLUTION_MS) * RESOLUTION_MS;
    const merchants = this.#merchants.get(atMs);
    if (merchants !== undefined) merchants.add(merchantId);
    else this.#merchants.set(atMs, new Set([merchantId]));
    if (atMs < this.#timerAtMs) this.#arm(atMs);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#merchants.clear();
  }

  #arm(atMs: number): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => this.#fire(), Math.min(Math.max(atMs - this.#nowMs(), 0), TIMER_MAX_MS));
  }

  #fire(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [atMs, merchants] of this.#merchants) {
      if (atMs > nowMs) nextMs = Math.min(nextMs, atMs);
      else {
        this.#merchants.delete(atMs);
        for (const merchantId of merchants) this.#onDue(merchantId);
      }
    }
    // A timer may fire slightly early: it is armed again.
    if (nextMs < this.#timerAtMs) this.#arm(nextMs);
  }
}
