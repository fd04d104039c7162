const TIMER_MAX_MS = 2 ** 31 - 1;

/** Merchants whose next job is due soon: each is told of when it is, so that nobody waits for the next look. */
export class Soon {
  readonly #nowMs: () => number;
  readonly #onDue: (merchantId: string) => void;
  readonly #dueAtMs = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor({ nowMs, onDue }: { nowMs: () => number; onDue: (merchantId: string) => void }) {
    this.#nowMs = nowMs;
    this.#onDue = onDue;
  }

  /** A job of this merchant is due then. Of several the first one counts: the others are found by later looks. */
  add(merchantId: string, dueAtMs: number): void {
    if (dueAtMs >= (this.#dueAtMs.get(merchantId) ?? Number.POSITIVE_INFINITY)) return;
    this.#dueAtMs.set(merchantId, dueAtMs);
    if (dueAtMs < this.#timerAtMs) this.#arm(dueAtMs);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#dueAtMs.clear();
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
    for (const [merchantId, dueAtMs] of this.#dueAtMs) {
      if (dueAtMs > nowMs) nextMs = Math.min(nextMs, dueAtMs);
      else {
        this.#dueAtMs.delete(merchantId);
        this.#onDue(merchantId);
      }
    }
    // A timer may ring a little early: then it is set again.
    if (nextMs < this.#timerAtMs) this.#arm(nextMs);
  }
}
