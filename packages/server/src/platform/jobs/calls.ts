import { AsyncLocalStorage } from 'node:async_hooks';
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/db.ts';
import { kept } from '../db/kept-plans.ts';
import { afterCommit } from '../db/transact.ts';

/** The channel on which enqueuers call workers. */
export const CHANNEL = 'florin_job';
const SENDER_MAX = 2 ** 47;

/** News for workers: a merchant has jobs of a kind. */
export interface Call {
  merchantId: string;
  /** Undefined: perhaps of any kind. */
  kind: string | undefined;
  /** The first of them, in real Unix milliseconds; 0: at once. */
  dueAtMs: number;
}

type Listener = (call: Call) => void;

/**
 * Calls workers once the transaction has committed. Not by a NOTIFY within it: that takes a lock of the whole database
 * which is held until the commit is on disk, so that all commits would stand in one line. A call that is lost with its
 * process costs time: workers look for due jobs by themselves, too.
 */
export function callWorkers(tx: Tx, calls: readonly Call[]): void {
  if (calls.length > 0) afterCommit(tx, (db) => Calls.of(db).send(calls));
}

/** Of calls for the same merchant and kind the earliest one stands. */
function merge(into: Map<string, Call>, call: Call): void {
  const key = `${call.merchantId} ${call.kind}`;
  const dueAtMs = Math.min(call.dueAtMs, into.get(key)?.dueAtMs ?? call.dueAtMs);
  into.set(key, { ...call, dueAtMs });
}

/**
 * The calls of one pool. Workers of this process hear them at once; for others what gathers in a turn of the loop, or
 * while a statement is under way, goes out together.
 */
export class Calls {
  static readonly #all = new WeakMap<Db, Calls>();

  static of(db: Db): Calls {
    const known = Calls.#all.get(db);
    if (known !== undefined) return known;
    const calls = new Calls(db);
    Calls.#all.set(db, calls);
    return calls;
  }

  readonly #db: Db;
  /** Tells what comes back from the database from what others sent. */
  readonly #sender = String(randomInt(1, SENDER_MAX));
  readonly #listeners = new Set<Listener>();
  readonly #waiting = new Map<string, Call>();
  #isSending = false;

  private constructor(db: Db) {
    this.#db = db;
  }

  /** Hears what is sent through this pool, without the way through the database. @returns how to end it */
  listen(listener: Listener): () => void {
    // A worker must not go on in the context of a request that happens to call it.
    const bound = AsyncLocalStorage.bind(listener);
    this.#listeners.add(bound);
    return () => void this.#listeners.delete(bound);
  }

  send(calls: readonly Call[]): void {
    const merged = new Map<string, Call>();
    for (const call of calls) merge(merged, call);
    for (const call of merged.values()) {
      merge(this.#waiting, call);
      for (const listener of this.#listeners) listener(call);
    }
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => void this.#sendAll());
  }

  /** What a message of the channel says; undefined where this pool sent it, or it says nothing. */
  read(message: string): Call | undefined {
    const [merchantId = '', dueAtMs = '0', sender = '', ...kind] = message.split(' ');
    if (sender === this.#sender || !/^[0-9a-f-]{36}$/.test(merchantId)) return undefined;
    return { merchantId, dueAtMs: Number(dueAtMs), kind: kind.length === 0 ? undefined : kind.join(' ') };
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const calls = [...this.#waiting.values()];
      this.#waiting.clear();
      // One that fails is not tried again: the workers will have looked before.
      await this.#notify(calls).catch(() => {});
    }
    this.#isSending = false;
  }

  /** Its commit does not wait for the disk, as nothing is written: so its lock is a short one, even among calls. */
  async #notify(calls: readonly Call[]): Promise<void> {
    const texts = calls.map(({ merchantId, kind, dueAtMs }) =>
      [merchantId, dueAtMs, this.#sender, ...(kind === undefined ? [] : [kind])].join(' '),
    );
    await sql`${kept}
      select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, call)
      from unnest(${texts}::text[]) as call`.execute(this.#db);
  }
}
