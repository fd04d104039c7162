import type { Connection } from './connection.ts';

export interface PoolLimits {
  /** Idle connections to one origin. */
  perOrigin: number;
  /** Idle connections to all origins together; above it the one that is idle longest is closed. */
  total: number;
}

/**
 * Idle connections by origin. The pool does not count connections in use, and no caller waits here: otherwise receivers
 * that hang would delay others behind the same host name.
 */
export class Pool {
  readonly #limits: PoolLimits;
  /** Last in, first out. An origin without connections is forgotten. */
  readonly #byOrigin = new Map<string, Connection[]>();
  /** In order of becoming idle. */
  readonly #all = new Map<Connection, string>();

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  get size(): { idle: number; origins: number } {
    return { idle: this.#all.size, origins: this.#byOrigin.size };
  }

  take(origin: string): Connection | undefined {
    const idle = this.#byOrigin.get(origin) ?? [];
    for (let connection = idle.at(-1); connection !== undefined; connection = idle.at(-1)) {
      this.remove(connection);
      if (connection.isOpen) return connection;
    }
    return undefined;
  }

  give(origin: string, connection: Connection): void {
    if (!connection.isOpen) return;
    const idle = this.#byOrigin.get(origin) ?? [];
    if (idle.length >= this.#limits.perOrigin) {
      connection.close();
      return;
    }
    this.#byOrigin.set(origin, idle);
    idle.push(connection);
    this.#all.set(connection, origin);
    if (this.#all.size > this.#limits.total) this.#closeOldest();
  }

  /** Removes a connection that is in use or closed now. */
  remove(connection: Connection): void {
    const origin = this.#all.get(connection);
    const idle = origin === undefined ? undefined : this.#byOrigin.get(origin);
    if (origin === undefined || idle === undefined) return;
    this.#all.delete(connection);
    idle.splice(idle.lastIndexOf(connection), 1);
    if (idle.length === 0) this.#byOrigin.delete(origin);
  }

  close(): void {
    for (const connection of this.#all.keys()) connection.close();
  }

  #closeOldest(): void {
    const [oldest] = this.#all.keys();
    if (oldest === undefined) return;
    this.remove(oldest);
    oldest.close();
  }
}
