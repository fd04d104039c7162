import type { Socket } from 'node:net';

/** Chunks read in one turn of the event loop: at most 1 MB, which takes about a millisecond. */
const CHUNKS_A_TURN = 16;

/**
 * Frees the memory of a buffer at once, unless it shares it with others; the collector would let 100 MB of read chunks
 * gather first. The buffer is empty afterwards.
 */
export function free({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && length === buffer.byteLength) buffer.transferToFixedLength(0);
}

/** Reads uploads in turn: in each turn of the event loop the first 16 that wait get one chunk of at most 64 kB each. */
export class RoundRobin {
  readonly #waiting: Socket[] = [];

  /** Pauses a connection until its next turn. */
  wait(socket: Socket): void {
    socket.pause();
    this.#waiting.push(socket);
    if (this.#waiting.length === 1) this.#goOn();
  }

  #goOn(): void {
    setImmediate(() => {
      // A stream that passed a chunk on has resumed its connection meanwhile.
      for (const socket of this.#waiting) socket.pause();
      for (const socket of this.#waiting.splice(0, CHUNKS_A_TURN)) socket.resume();
      if (this.#waiting.length > 0) this.#goOn();
    });
  }
}
