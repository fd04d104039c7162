import type { Connection } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { NotSent } from './failures.ts';

export interface PoolLimits {
  /** Connections to one origin, open or being opened; further attempts wait for one of them. */
  perOrigin: number;
  /** Idle connections to all origins together; of more, the one that has been idle longest is closed. */
  idle: number;
}

/** A connection that was idle, or leave to open one. */
type Turn = Connection | 'open';

interface Origin {
  /** Taken by connections that are open or being opened. */
  places: number;
  /** The one used last is at the end, and is used first. */
  idle: Connection[];
  waiting: Set<(turn: Turn) => void>;
}

/** Connections by origin. An origin without any is forgotten, so that very many of them cost nothing afterwards. */
export class Pool {
  readonly #limits: PoolLimits;
  readonly #origins = new Map<string, Origin>();
  /** Of all origins, in the order in which they became idle. */
  readonly #idle = new Set<Connection>();

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  get size(): { open: number; idle: number; origins: number } {
    const open = [...this.#origins.values()].reduce((sum, { places }) => sum + places, 0);
    return { open, idle: this.#idle.size, origins: this.#origins.size };
  }

  /**
   * An idle connection, or leave to open one: then a place is taken until `add` has given it a connection and that was
   * closed, or until `leave`.
   *
   * @throws NotSent where no place became free in time
   */
  async take(key: string, deadline: Deadline): Promise<Turn> {
    const origin = this.#origins.get(key) ?? { places: 0, idle: [], waiting: new Set() };
    this.#origins.set(key, origin);
    // Who came first goes first: a newcomer takes nothing from those who wait.
    const turn = origin.waiting.size === 0 ? this.#nextTurn(origin) : undefined;
    if (turn !== undefined) return turn;
    return await new Promise<Turn>((resolve, reject) => {
      origin.waiting.add(resolve);
      deadline.onEnd(() => {
        if (origin.waiting.delete(resolve)) reject(new NotSent('timeout'));
      });
    });
  }

  /** A connection was opened in the place that `take` gave. */
  add(key: string, connection: Connection): void {
    connection.onClose(() => {
      const origin = this.#origins.get(key);
      if (this.#idle.delete(connection)) origin?.idle.splice(origin.idle.indexOf(connection), 1);
      this.leave(key);
    });
  }

  /** A connection is free for the next request. */
  give(key: string, connection: Connection): void {
    const origin = this.#origins.get(key);
    // A closed one leaves its place by itself.
    if (origin === undefined || !connection.isOpen) return;
    origin.idle.push(connection);
    this.#idle.add(connection);
    this.#serve(origin);
    if (this.#idle.size <= this.#limits.idle) return;
    const [oldest] = this.#idle;
    oldest?.close();
  }

  /** The place that `take` gave has no connection (any more). */
  leave(key: string): void {
    const origin = this.#origins.get(key);
    if (origin === undefined) return;
    origin.places--;
    this.#serve(origin);
    if (origin.places === 0) this.#origins.delete(key);
  }

  closeIdle(): void {
    for (const connection of this.#idle) connection.close();
  }

  #nextTurn(origin: Origin): Turn | undefined {
    for (let connection = origin.idle.pop(); connection !== undefined; connection = origin.idle.pop()) {
      this.#idle.delete(connection);
      if (connection.isOpen) return connection;
    }
    if (origin.places >= this.#limits.perOrigin) return undefined;
    origin.places++;
    return 'open';
  }

  #serve(origin: Origin): void {
    for (const waiter of origin.waiting) {
      const turn = this.#nextTurn(origin);
      if (turn === undefined) return;
      origin.waiting.delete(waiter);
      waiter(turn);
    }
  }
}
