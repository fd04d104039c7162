import type { TLSSocket } from 'node:tls';
import { Client } from 'undici';
import type { Deadline } from './deadline.ts';
import { Exchange, type OutboundAnswer } from './exchange.ts';
import { InterimAnswers } from './interim-answers.ts';

const HEADER_BYTES_MAX = 65_536;
/** A receiver that names a longer time to stay is not believed further. */
const IDLE_MS_MAX = 30_000;

export interface OutboundRequest {
  /** As `checkCallbackUrl` gave it; judged again here. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Of a merchant in the sandbox: an allowed loopback network is for these only. */
  sandbox: boolean;
  /** Gives the attempt up: `post` then throws the signal's reason. */
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
      // It gets this socket and no other: a new one would have to be resolved and checked. Not at once, as the client
      // does not look at what is queued while it is still asking.
      connect: (_options, done) => {
        const given = offered;
        offered = undefined;
        queueMicrotask(() =>
          given === undefined ? done(new Error('the connection is closed'), null) : done(null, given),
        );
      },
      allowH2: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      // The deadline of the attempt counts instead.
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

  /** Runs once, when it is closed by whichever side. */
  onClose(run: () => void): void {
    if (this.#socket.destroyed) run();
    else this.#socket.once('close', run);
  }

  /** Sends one request; afterwards the connection is closed unless the answer was read to its end. */
  async exchange(url: URL, { headers, body }: OutboundRequest, deadline: Deadline): Promise<OutboundAnswer> {
    const exchange = new Exchange();
    deadline.onEnd(() => exchange.cut());
    // The end of an idle connection may lie unread in this process. The client looks once before it writes, but not
    // after another turn of the event loop, which is what it takes to read it.
    if (this.#isUsed) await new Promise((next) => setImmediate(next));
    this.#isUsed = true;
    this.#interim.begin();
    const path = url.pathname + url.search;
    if (!deadline.isOver) this.#client.dispatch({ method: 'POST', path, headers, body }, exchange);
    try {
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
