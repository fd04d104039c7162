/** Ends an attempt at its timeout or when it is aborted, in whatever phase it is. */
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

  /** Sets what to stop at the end, replacing the last one; stops it at once if the deadline is over. */
  onEnd(cut: () => void): void {
    this.#cut = cut;
    if (this.#isOver) cut();
  }

  abort(reason: unknown): void {
    if (this.#isOver) return;
    this.#aborted = { reason };
    this.#end();
  }

  /** @throws the reason of the abort, if an abort ended it and not the timeout */
  throwIfAborted(): void {
    if (this.#aborted !== undefined) throw this.#aborted.reason;
  }

  /** Must be called when the attempt has ended by itself. */
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
