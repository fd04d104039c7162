/** What the streams of one thing wait for: the next notification, with a time-out for heartbeats. */
export class Condition {
  readonly #waiting = new Set<() => void>();

  notifyAll(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Waits until the next notification, or until the signal is aborted. @returns false after the time-out */
  async wait(leaving: AbortSignal, timeoutMs: number): Promise<boolean> {
    if (leaving.aborted) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const wake = () => resolve(true);
    const timer = setTimeout(() => resolve(false), timeoutMs);
    this.#waiting.add(wake);
    leaving.addEventListener('abort', wake, { once: true });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(wake);
      leaving.removeEventListener('abort', wake);
    }
  }
}
