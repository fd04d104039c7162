import { randomInt } from 'node:crypto';
import { openSession, type Session } from '../db/db.ts';
import { reconnectMs } from './decisions.ts';
import type { Outage } from './outage.ts';
import { pause } from './waiting.ts';
import { CHANNEL } from './worker-notifier.ts';

/** Class of the workers' advisory locks; any number that no other lock of the product uses. */
export const LOCK_CLASS = 1_181_502_039;
const OWNER_MAX = 2 ** 31 - 1;
const PING_EVERY_MS = 5_000;
const PING_TIMEOUT_MS = 10_000;

export interface PresenceOptions {
  url: string;
  outage: Outage;
  /** A new session is up, under a new number. */
  onUp: () => void;
  /** The session is gone: others see this worker as dead. */
  onDown: () => void;
  /** A message on the channel. */
  onNotice: (message: string) => void;
}

/**
 * Keeps one session that marks this worker as alive by an advisory lock under a random number, and that listens for
 * notices. The lock ends with the session. A broken session is replaced by one with another number, and leases of the
 * old number are free for all workers.
 */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #owner: number | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#done = this.#keep();
  }

  /** This worker's number while its session stands. */
  get owner(): number | undefined {
    return this.#owner;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #keep(): Promise<void> {
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      try {
        const session = await openSession(this.#options.url);
        await this.#live(session, () => {
          failures = 0;
        });
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        failures += 1;
        this.#options.outage.failed('session', error);
        await pause(reconnectMs(failures), this.#stop.signal);
      }
    }
  }

  /** Holds lock and LISTEN until the session ends. Throws what ended it, unless `close` did. */
  async #live(session: Session, onUp: () => void): Promise<void> {
    const ended = new Promise<never>((_, reject) => {
      session.on('error', reject);
      session.on('end', () => reject(new Error('the session ended')));
    });
    // It may end before it is awaited.
    ended.catch(() => {});
    this.#stop.signal.addEventListener('abort', () => void session.end().catch(() => {}), { once: true });
    session.on('notification', (message) => this.#options.onNotice(message.payload ?? ''));
    try {
      this.#owner = await Promise.race([takeNumber(session), ended]);
      await Promise.race([session.query(`listen ${CHANNEL}`), ended]);
      onUp();
      this.#options.outage.worked('session');
      this.#options.onUp();
      await Promise.race([this.#ping(session), ended]);
    } finally {
      this.#owner = undefined;
      this.#options.onDown();
      session.end().catch(() => {});
    }
  }

  /** Detects a host that vanished without closing the connection. Returns when the worker stops. */
  async #ping(session: Session): Promise<void> {
    for (;;) {
      await pause(PING_EVERY_MS, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      const answered = new AbortController();
      const timeout = pause(PING_TIMEOUT_MS, answered.signal).then(() => {
        if (!answered.signal.aborted) throw new Error('the session does not answer');
      });
      const ping = session.query('select 1').finally(() => answered.abort());
      await Promise.race([ping, timeout.then(() => ping)]);
    }
  }
}

async function takeNumber(session: Session): Promise<number> {
  for (;;) {
    const owner = randomInt(1, OWNER_MAX);
    const { rows } = await session.query('select pg_try_advisory_lock($1, $2) as taken', [LOCK_CLASS, owner]);
    if (rows[0]?.taken === true) return owner;
  }
}
