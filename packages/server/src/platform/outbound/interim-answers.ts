const CR = 0x0d;
const LF = 0x0a;
const ZERO = 0x30;
const ONE = 0x31;
const TWO = 0x32;
/** Position of the status after `HTTP/1.1 `. */
const STATUS_AT = 9;

/**
 * undici skips interim answers (1xx), but closes the connection at a `100 Continue` that it did not request, and some
 * servers send one anyway. This rewrites such a 100 to a 102, which undici skips, in the bytes on their way to it.
 */
export class InterimAnswers {
  /** Bytes of the current head so far; undefined after the status of the final answer. */
  #position: number | undefined;
  #lineLength = 0;
  #isOneHundred = false;

  /** Starts a new answer at the next byte. */
  begin(): void {
    this.#position = 0;
  }

  /** Scans bytes up to the status of the final answer and rewrites them in place. */
  pass(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && this.#position !== undefined; at++) this.#take(bytes, at);
  }

  #take(bytes: Buffer, at: number): void {
    const byte = bytes[at];
    const position = this.#position ?? 0;
    // Empty lines before a head are skipped.
    if (position === 0 && (byte === CR || byte === LF)) return;
    this.#position = position + 1;
    if (position === STATUS_AT) {
      this.#isOneHundred = true;
      if (byte !== ONE) this.#position = undefined;
    } else if (position === STATUS_AT + 1) {
      this.#isOneHundred = byte === ZERO;
    } else if (position === STATUS_AT + 2 && this.#isOneHundred && byte === ZERO) {
      bytes[at] = TWO;
    } else if (byte === LF) {
      if (this.#lineLength === 0) this.#position = 0;
      this.#lineLength = 0;
      return;
    }
    if (byte !== CR) this.#lineLength++;
  }
}
