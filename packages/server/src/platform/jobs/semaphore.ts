/** Every so many releases serve the last rank that waits, so that no rank starves. */
const LAST_RANK_EVERY = 8;

/** Bounds how many hold it at a time. Waiters are served by rank, lowest first, and in order of arrival within a rank. */
export class Semaphore {
  /** By rank. */
  readonly #waiting: (() => void)[][] = [];
  #free: number;
  #given = 0;

  constructor(permits: number) {
    this.#free = permits;
  }

  /** @returns releases it; a second call does nothing */
  async acquire(rank = 0): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#queue(rank).push(resolve));
    return this.#releaseOnce();
  }

  /** Takes a permit even if none is free, so that waiters wait longer. @returns releases it */
  take(): () => void {
    this.#free -= 1;
    return this.#releaseOnce();
  }

  #queue(rank: number): (() => void)[] {
    while (this.#waiting.length <= rank) this.#waiting.push([]);
    return this.#waiting[rank] ?? [];
  }

  #releaseOnce(): () => void {
    let isHeld = true;
    return () => {
      if (isHeld) this.#release();
      isHeld = false;
    };
  }

  #release(): void {
    this.#free += 1;
    if (this.#free <= 0) return;
    this.#given += 1;
    const isLast = this.#given % LAST_RANK_EVERY === 0;
    const isAnybody = (queue: readonly unknown[]) => queue.length > 0;
    const queue = isLast ? this.#waiting.findLast(isAnybody) : this.#waiting.find(isAnybody);
    const next = queue?.shift();
    if (next === undefined) return;
    this.#free -= 1;
    next();
  }
}
