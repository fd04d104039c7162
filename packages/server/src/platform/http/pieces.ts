import type { Socket } from 'node:net';

/** At most 1 MB, for about a millisecond: then it is the turn of everything else. */
const PIECES_A_TURN = 16;

/**
 * Gives memory back at once where nothing else lies in it; the collector lets 100 MB of read pieces come together first.
 * Whoever looks at the bytes afterwards sees none.
 */
export function free({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && length === buffer.byteLength) buffer.transferToFixedLength(0);
}

/** Uploads come in pieces of 64 kB at most. So many uploads get one each in a turn of the event loop, in their order. */
export class Turns {
  readonly #waiting: Socket[] = [];

  /** Reads nothing more of a connection before its next turn. */
  wait(socket: Socket): void {
    socket.pause();
    this.#waiting.push(socket);
    if (this.#waiting.length === 1) this.#goOn();
  }

  #goOn(): void {
    setImmediate(() => {
      // A stream that has given a piece away has asked its connection for the next one meanwhile.
      for (const socket of this.#waiting) socket.pause();
      for (const socket of this.#waiting.splice(0, PIECES_A_TURN)) socket.resume();
      if (this.#waiting.length > 0) this.#goOn();
    });
  }
}
