import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';

/**
 * Opens an answer of server-sent events: its text, piece by piece, until it ends or the signal is aborted. The signal
 * is always aborted at last, also where nothing was ever read.
 */
export type OpenStream = (signal: AbortSignal) => AsyncIterable<string>;

/** What a route answers that sends server-sent events. */
export const EVENT_STREAM = Type.Unsafe<OpenStream>({ type: 'string', description: 'Server-sent events.' });

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Proxies that collect an answer before they pass it on would keep it for ever.
  'x-accel-buffering': 'no',
  connection: 'close',
};
/** A peer that is gone without a word is noticed before the next heartbeat is written. */
const PROBE_AFTER_MS = 2_000;

/** The endless answers of a server. */
export class EventStreams {
  readonly #unreadMs: number;
  readonly #open = new Set<AbortController>();
  #isClosing = false;

  /** @param unreadMs how long a piece may wait for a caller who does not read before the connection is cut */
  constructor(unreadMs: number) {
    this.#unreadMs = unreadMs;
  }

  send(reply: FastifyReply, open: OpenStream): FastifyReply {
    const { raw } = reply;
    const ending = new AbortController();
    this.#open.add(ending);
    const end = () => {
      this.#open.delete(ending);
      ending.abort();
    };
    raw.once('close', end);
    raw.socket?.setKeepAlive(true, PROBE_AFTER_MS);
    const pieces = this.#cutUnread(open(ending.signal), () => raw.destroy());
    if (this.#isClosing || raw.destroyed) end();
    return reply.headers(HEADERS).send(Readable.from(pieces, { highWaterMark: 1 }));
  }

  /** Ends them all: a server that closes waits for its answers. */
  close(): void {
    this.#isClosing = true;
    for (const ending of this.#open) ending.abort();
  }

  /** Nothing is read ahead for a slow caller, so it costs a connection and no memory; but not for ever. */
  async *#cutUnread(pieces: AsyncIterable<string>, cut: () => void): AsyncGenerator<string> {
    for await (const piece of pieces) {
      const timer = setTimeout(cut, this.#unreadMs);
      try {
        yield piece;
      } finally {
        clearTimeout(timer);
      }
    }
  }
}
