import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';

/**
 * Opens an answer of server-sent events, or another long one: yields its text until it ends or the signal is aborted. The signal is always
 * aborted at the end, even if nothing was read.
 */
export type OpenStream = (signal: AbortSignal) => AsyncIterable<string>;

/** The answer of a route that sends server-sent events. */
export const EVENT_STREAM = Type.Unsafe<OpenStream>({ type: 'string', description: 'Server-sent events.' });

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // A proxy that buffers answers would keep an endless one.
  'x-accel-buffering': 'no',
  connection: 'close',
};
/** TCP keep-alive finds a vanished peer before the next heartbeat is written. */
const PROBE_AFTER_MS = 2_000;
/** For the last piece of a stream when the server closes. */
const CLOSING_MS = 1_000;

/** The open event streams of a server. */
export class EventStreams {
  readonly #unreadMs: number;
  readonly #open = new Map<AbortController, ServerResponse>();
  #isClosing = false;

  /** @param unreadMs how long a piece may wait for a caller who does not read before the connection is cut */
  constructor(unreadMs: number) {
    this.#unreadMs = unreadMs;
  }

  send(
    reply: FastifyReply,
    open: OpenStream,
    headers: Readonly<Record<string, string>> = HEADERS,
  ): FastifyReply {
    const { raw } = reply;
    const ending = new AbortController();
    this.#open.set(ending, raw);
    const end = () => {
      this.#open.delete(ending);
      ending.abort();
    };
    raw.once('close', end);
    raw.socket?.setKeepAlive(true, PROBE_AFTER_MS);
    const pieces = this.#cutUnread(open(ending.signal), () => raw.destroy());
    if (this.#isClosing || raw.destroyed) end();
    return reply.headers(headers).send(Readable.from(pieces, { highWaterMark: 1 }));
  }

  /** Ends all streams, as a server that closes waits for its answers. One that nobody reads is cut soon after. */
  close(): void {
    this.#isClosing = true;
    const open = [...this.#open];
    for (const [ending] of open) ending.abort();
    setTimeout(() => {
      for (const [, raw] of open) raw.destroy();
    }, CLOSING_MS).unref();
  }

  /** Reads nothing ahead, so that a slow caller costs no memory, and cuts a caller that reads nothing for `unreadMs`. */
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
