import type { TLSSocket } from 'node:tls';
import { Client } from 'undici';
import type { Deadline } from './deadline.ts';
import { Exchange, type OutboundAnswer } from './exchange.ts';
import { InterimAnswers } from './interim-answers.ts';

const HEADER_BYTES_MAX = 65_536;
/** Longer keep-alive times of receivers are cut to this. */
const IDLE_MS_MAX = 30_000;

export interface OutboundRequest {
  /** As `checkCallbackUrl` returned it; checked again here. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Sent for a sandbox merchant: only these may reach an allowed loopback network. */
  sandbox: boolean;
  /** Aborts the attempt: `post` then throws the signal's reason. */
  signal?: AbortSignal;
}

/** One open TLS connection and the client that speaks HTTP/1.1 on it, one request at a time. */
export class Connection {
  readonly #socket: TLSSocket;
  readonly #client: Client;
  readonly #interim = new InterimAnswers();
  #isUsed = false;

  constructor(socket: TLSSocket, { origin, idleMs }: { origin: string; idleMs: number }) {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    socket.read = (size?: number) => {
      const chunk: Buffer | null = read(size);
      if (chunk !== null) this.#interim.pass(chunk);
      return chunk;
    };
    let offered: TLSSocket | undefined = socket;
    this.#client = new Client(origin, {
      // The client gets this socket only: a new one would have to be resolved and checked. The callback is deferred, as
      // the client ignores its queue during `connect`.
      connect: (_options, done) => {
        const given = offered;
        offered = undefined;
        queueMicrotask(() =>
          given === undefined ? done(new Error('the connection is closed'), null) : done(null, given),
        );
      },
      allowH2: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      // The deadline of the attempt applies instead.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: IDLE_MS_MAX,
    });
  }

  /** Whether another request may be tried on it. */
  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.readable;
  }

  /** Calls `run` once, when either side closes it. */
  onClose(run: () => void): void {
    if (this.#socket.destroyed) run();
    else this.#socket.once('close', run);
  }

  /** Sends one request; afterwards the connection is closed unless the answer was read to its end. */
  async exchange(url: URL, { headers, body }: OutboundRequest, deadline: Deadline): Promise<OutboundAnswer> {
    const exchange = new Exchange();
    deadline.onEnd(() => exchange.cut());
    // The end of an idle connection may be unread in this process. Reading it takes a turn of the event loop, which the
    // client does not wait for before it writes.
    if (this.#isUsed) await new Promise((next) => setImmediate(next));
    this.#isUsed = true;
    this.#interim.begin();
    const path = url.pathname + url.search;
    try {
      if (!deadline.isOver) this.#client.dispatch({ method: 'POST', path, headers, body }, exchange);
      return await exchange.done;
    } finally {
      if (!exchange.isComplete) this.close();
    }
  }

  close(): void {
    this.#client.destroy().catch(() => {});
    this.#socket.destroy();
  }
}
