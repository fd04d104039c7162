const CR = 0x0d;
const LF = 0x0a;
const ZERO = 0x30;
const ONE = 0x31;
const TWO = 0x32;
/** Where the status stands after `HTTP/1.1 `. */
const STATUS_AT = 9;

/**
 * undici skips interim answers (1xx), but closes the connection at a `100 Continue` that it has not asked for, and some
 * servers send one all the same. In the bytes that go to it such a 100 becomes a 102, which it skips.
 */
export class InterimAnswers {
  /** Bytes of the current head so far; none while there is nothing to look for. */
  #position: number | undefined;
  #lineLength = 0;
  #isOneHundred = false;

  /** The next bytes are the beginning of an answer. */
  begin(): void {
    this.#position = 0;
  }

  /** Reads on, as far as the status of the final answer, and changes what has to be changed in place. */
  pass(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && this.#position !== undefined; at++) this.#take(bytes, at);
  }

  #take(bytes: Buffer, at: number): void {
    const byte = bytes[at];
    const position = this.#position ?? 0;
    // Empty lines before a head belong to none.
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
