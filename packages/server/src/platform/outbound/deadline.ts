/** Ends an attempt when its time is over or it is given up, whatever it is busy with at that moment. */
export class Deadline {
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.abort(this.#signal?.reason);
  #aborted: { reason: unknown } | undefined;
  #isOver = false;
  #cut: (() => void) | undefined;

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.#end(), timeoutMs);
    this.#signal = signal;
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What to stop at the end, in place of what was named before; at once where it is over. */
  onEnd(cut: () => void): void {
    this.#cut = cut;
    if (this.#isOver) cut();
  }

  abort(reason: unknown): void {
    if (this.#isOver) return;
    this.#aborted = { reason };
    this.#end();
  }

  /** @throws the reason where it was not time that ended it */
  throwIfAborted(): void {
    if (this.#aborted !== undefined) throw this.#aborted.reason;
  }

  /** To be called when the attempt is over by itself. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#cut = undefined;
  }

  #end(): void {
    this.#isOver = true;
    this.#cut?.();
  }
}
