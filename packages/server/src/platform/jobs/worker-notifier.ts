import { AsyncLocalStorage } from 'node:async_hooks';
import { randomInt } from 'node:crypto';
import type { Db, Tx } from '../db/db.ts';
import { prepared } from '../db/statements/statement.ts';
import { afterCommit } from '../db/transact.ts';

/** The channel of LISTEN and NOTIFY for workers. */
export const CHANNEL = 'florin_job';
const SENDER_MAX = 2 ** 47;

/** A merchant has jobs of a kind. */
export interface JobNotice {
  merchantId: string;
  /** Undefined: any kind. */
  kind: string | undefined;
  /** The first of them, in real Unix milliseconds; 0: at once. */
  dueAtMs: number;
}

type Listener = (notice: JobNotice) => void;

/**
 * Notifies workers after the transaction has committed. A NOTIFY inside it would take a lock of the whole database until
 * the commit is on disk, so that all commits would wait for each other. A notice that is lost with its process costs time
 * only, as workers also poll.
 */
export function notifyWorkers(tx: Tx, notices: readonly JobNotice[]): void {
  if (notices.length > 0) afterCommit(tx, (db) => WorkerNotifier.of(db).send(notices));
}

/** Keeps the earliest notice for each merchant and kind. */
function merge(into: Map<string, JobNotice>, notice: JobNotice): void {
  const key = `${notice.merchantId} ${notice.kind}`;
  const dueAtMs = Math.min(notice.dueAtMs, into.get(key)?.dueAtMs ?? notice.dueAtMs);
  into.set(key, { ...notice, dueAtMs });
}

/**
 * Sends the notices of one pool. Workers of this process receive them at once; for other processes, notices of one turn
 * of the event loop, or of the time that a NOTIFY takes, go out in one statement.
 */
export class WorkerNotifier {
  static readonly #all = new WeakMap<Db, WorkerNotifier>();

  static of(db: Db): WorkerNotifier {
    const known = WorkerNotifier.#all.get(db);
    if (known !== undefined) return known;
    const notifier = new WorkerNotifier(db);
    WorkerNotifier.#all.set(db, notifier);
    return notifier;
  }

  readonly #db: Db;
  /** Marks our own notices, which the database also sends back to us. */
  readonly #sender = String(randomInt(1, SENDER_MAX));
  readonly #listeners = new Set<Listener>();
  readonly #waiting = new Map<string, JobNotice>();
  #isSending = false;

  private constructor(db: Db) {
    this.#db = db;
  }

  /** Passes on notices of this pool without a round trip. @returns ends it */
  listen(listener: Listener): () => void {
    // A worker must not run in the async context of the request that notified it.
    const bound = AsyncLocalStorage.bind(listener);
    this.#listeners.add(bound);
    return () => void this.#listeners.delete(bound);
  }

  send(notices: readonly JobNotice[]): void {
    const merged = new Map<string, JobNotice>();
    for (const notice of notices) merge(merged, notice);
    for (const notice of merged.values()) {
      merge(this.#waiting, notice);
      for (const listener of this.#listeners) listener(notice);
    }
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => void this.#sendAll());
  }

  /** Parses a message of the channel; undefined where this pool sent it or it is malformed. */
  read(message: string): JobNotice | undefined {
    const [merchantId = '', dueAtMs = '0', sender = '', ...kind] = message.split(' ');
    if (sender === this.#sender || !/^[0-9a-f-]{36}$/.test(merchantId)) return undefined;
    return { merchantId, dueAtMs: Number(dueAtMs), kind: kind.length === 0 ? undefined : kind.join(' ') };
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const notices = [...this.#waiting.values()];
      this.#waiting.clear();
      // A failed one is not repeated: the next poll of the workers comes earlier.
      await this.#notify(notices).catch(() => {});
    }
    this.#isSending = false;
  }

  /** Commits asynchronously, as nothing is written: the lock of NOTIFY is held for a short time only. */
  async #notify(notices: readonly JobNotice[]): Promise<void> {
    const texts = notices.map(({ merchantId, kind, dueAtMs }) =>
      [merchantId, dueAtMs, this.#sender, ...(kind === undefined ? [] : [kind])].join(' '),
    );
    await prepared`
      select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, notice)
      from unnest(${texts}::text[]) as notice`.execute(this.#db);
  }
}
