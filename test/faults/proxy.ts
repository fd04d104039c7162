import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A statement at which the line is cut, once: before the server sees it, or after it was done but not answered. */
export interface Ambush {
  statement: RegExp;
  when: 'before' | 'after';
  /** The line stays open and nothing comes over it any more. */
  silently?: boolean;
}

export interface FaultProxy {
  /** The database's address through the proxy: the same for as long as the proxy stands. */
  url: string;
  /** Where the database is now: after a restart it listens elsewhere. */
  pointTo(url: string): void;
  /** Drops all connections and every new one until `mend`. */
  cut(): void;
  /** Drops all connections; new ones are let through. */
  blink(): void;
  /** Nothing gets through any more in either direction, and nobody is told. */
  freeze(): void;
  /** New connections get through; those that were frozen stay silent until somebody closes them. */
  thaw(): void;
  /** Each chunk arrives so much later. */
  delay(ms: number): void;
  mend(): void;
  /** Resolves when the statement came by and the line failed. */
  ambush(ambush: Ambush): Promise<void>;
  /** Forgets an ambush that nothing has run into. */
  lift(): void;
  close(): Promise<void>;
}

/** An ambush that somebody waits for. */
type Met = Ambush & { sprung: () => void };

export const COMMIT = /^\s*commit\b/i;
const STARTUP_HEADER = 4;
const HEADER = 5;
/** ReadyForQuery, whatever the state of the transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

/** Cuts a byte stream into the messages of PostgreSQL's frontend; only the first has no type. */
class Messages {
  #pending: Buffer = Buffer.alloc(0);
  #started = false;

  *take(chunk: Buffer): Generator<Buffer> {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const typeBytes = this.#started ? 1 : 0;
      if (this.#pending.length < (this.#started ? HEADER : STARTUP_HEADER)) return;
      const length = typeBytes + this.#pending.readInt32BE(typeBytes);
      if (this.#pending.length < length) return;
      yield this.#pending.subarray(0, length);
      this.#pending = this.#pending.subarray(length);
      this.#started = true;
    }
  }
}

/** Says which statement a message of one connection is about: statements with a name are sent once and then run by it. */
class Statements {
  readonly #named = new Map<string, string>();

  /** The text of what a Query, Parse or Bind message runs; of others none. */
  of(message: Buffer): string | undefined {
    const type = String.fromCharCode(message[0] ?? 0);
    if (type === 'Q') return message.toString('utf8', HEADER, message.length - 1);
    if (type !== 'P' && type !== 'B') return undefined;
    const [first = '', second = ''] = message.toString('utf8', HEADER).split('\0', 2);
    // Parse: name, text. Bind: portal, name.
    if (type === 'B') return this.#named.get(second);
    if (first !== '') this.#named.set(first, second);
    return second;
  }
}

/** A TCP proxy that reads as much of the protocol as it takes to fail at the worst moment. */
class ProtocolProxy implements FaultProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Nothing is written to these. */
  readonly #silent = new Set<Socket>();
  #target: URL;
  #isCut = false;
  #isFrozen = false;
  #delayMs = 0;
  #ambush: Met | undefined;

  constructor(server: Server, databaseUrl: string) {
    this.#server = server;
    this.#target = new URL(databaseUrl);
    const url = new URL(databaseUrl);
    url.port = String((server.address() as AddressInfo).port);
    this.url = url.href;
    server.on('connection', (near) => this.#accept(near));
  }

  pointTo(url: string): void {
    this.#target = new URL(url);
  }

  cut(): void {
    this.#isCut = true;
    this.blink();
  }

  blink(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  freeze(): void {
    this.#isFrozen = true;
    for (const socket of this.#sockets) this.#silent.add(socket);
  }

  thaw(): void {
    this.#isFrozen = false;
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

  mend(): void {
    this.#delayMs = 0;
    this.#isCut = false;
    // What was swallowed is gone: such a connection never gets into step again.
    for (const socket of this.#silent) socket.destroy();
    this.#isFrozen = false;
  }

  ambush(ambush: Ambush): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ambush = { ...ambush, sprung: resolve };
    return promise;
  }

  lift(): void {
    this.#ambush = undefined;
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(near: Socket): void {
    if (this.#isCut) {
      near.destroy();
      return;
    }
    const far = connect(Number(this.#target.port), this.#target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      if (this.#isFrozen) this.#silent.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.#silent.delete(socket);
        other.destroy();
      });
    }
    this.#join(near, far);
  }

  #join(near: Socket, far: Socket): void {
    const messages = new Messages();
    const statements = new Statements();
    let met: Met | undefined;
    const spring = ({ silently, sprung }: Met) => {
      for (const socket of [near, far]) {
        if (silently) this.#silent.add(socket);
        else socket.destroy();
      }
      sprung();
    };
    near.on('data', (chunk: Buffer) => {
      for (const message of messages.take(chunk)) {
        const ambush = this.#met(statements.of(message));
        if (ambush?.when === 'before') {
          spring(ambush);
          return;
        }
        met ??= ambush;
        this.#pass(message, far);
      }
    });
    far.on('data', (chunk: Buffer) => {
      if (met === undefined) this.#pass(chunk, near);
      else if (chunk.includes(READY)) spring(met);
    });
  }

  #met(statement: string | undefined): Met | undefined {
    const ambush = this.#ambush;
    if (ambush === undefined || statement === undefined || !ambush.statement.test(statement))
      return undefined;
    this.#ambush = undefined;
    return ambush;
  }

  #pass(bytes: Buffer, to: Socket): void {
    if (this.#silent.has(to)) return;
    // Timers of one length fire in the order in which they were set.
    if (this.#delayMs > 0) setTimeout(() => to.write(bytes), this.#delayMs);
    else to.write(bytes);
  }
}

/** Opens a proxy on a free port of 127.0.0.1 before a database. */
export async function openFaultProxy(databaseUrl: string): Promise<FaultProxy> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new ProtocolProxy(server, databaseUrl);
}
