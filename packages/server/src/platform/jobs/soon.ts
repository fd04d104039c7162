const TIMER_MAX_MS = 2 ** 31 - 1;
/** What is due within so short a time is told of together, at its end. */
const TOGETHER_MS = 20;

/** Merchants who have jobs due soon: each is told of when one is, so that nobody waits for the next look. */
export class Soon {
  readonly #nowMs: () => number;
  readonly #onDue: (merchantId: string) => void;
  /** By the end of the time in which they are due: few, however many merchants there are. */
  readonly #merchants = new Map<number, Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor({ nowMs, onDue }: { nowMs: () => number; onDue: (merchantId: string) => void }) {
    this.#nowMs = nowMs;
    this.#onDue = onDue;
  }

  /** A job of this merchant is due then. */
  add(merchantId: string, dueAtMs: number): void {
    const atMs = Math.ceil(dueAtMs / TOGETHER_MS) * TOGETHER_MS;
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
    this.#timer = setTimeout(() => this.#ring(), Math.min(Math.max(atMs - this.#nowMs(), 0), TIMER_MAX_MS));
  }

  #ring(): void {
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
    // A timer may ring a little early: then it is set again.
    if (nextMs < this.#timerAtMs) this.#arm(nextMs);
  }
}
