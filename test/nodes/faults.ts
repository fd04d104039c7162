/** What goes wrong with a request, whatever it asks. */
interface Fault {
  /**
   * limit: HTTP 429, nothing done · forbid: HTTP 404, nothing done · down: HTTP 503, nothing done · drop: the connection closes, nothing done ·
   * lose: done, and the connection closes without an answer · cut: done, and the answer ends in the middle ·
   * delay: done, answered `delayMs` later
   */
  how: 'limit' | 'forbid' | 'down' | 'drop' | 'lose' | 'cut' | 'delay';
  /** 1 by default; Infinity until `clear`. */
  times?: number;
  /** Calls of this method alone. */
  method?: string;
  delayMs?: number;
}

/** The planned faults of one endpoint, and how often each method of it was called. */
export class Faults {
  readonly #planned: { fault: Fault; left: number }[] = [];
  /** By method, whatever became of the call. */
  readonly calls = new Map<string, number>();

  /** Calls of all methods. */
  counted(): number {
    return [...this.calls.values()].reduce((sum, count) => sum + count, 0);
  }

  plan(fault: Fault): void {
    this.#planned.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#planned.length = 0;
  }

  /** Counts the call and uses up the first fault that is meant for it. */
  next(method: string): Fault | undefined {
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    const found = this.#planned.find(({ fault, left }) => left > 0 && (fault.method ?? method) === method);
    if (found === undefined) return undefined;
    found.left -= 1;
    return found.fault;
  }
}
