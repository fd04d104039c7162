import { isNeverCommitted } from './connection.ts';
import { type Db, isRetryable, type Tx } from './db.ts';

const ATTEMPTS_MAX = 8;

/** COMMIT was sent and its answer was lost: the change may stand or not. The caller reads back before it repeats. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('the answer to COMMIT was lost; read the resource before repeating the request', { cause });
  }
}

type AfterCommit = (db: Db) => void;
const waiting = new WeakMap<Tx, AfterCommit[]>();

/**
 * Runs `change` in one transaction; only a throw rolls back. A transaction that lost a race (deadlock, serialisation)
 * is run again whole, so `change` holds no effect outside the database but through `afterCommit`.
 *
 * @throws CommitUnknown when the connection broke while committing.
 */
export async function transact<T>(db: Db, change: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let decided = false;
    const acts: AfterCommit[] = [];
    try {
      const result = await db.transaction().execute(async (tx) => {
        waiting.set(tx as Tx, acts);
        const changed = await change(tx as Tx);
        decided = true;
        return changed;
      });
      for (const act of acts) act(db);
      return result;
    } catch (error) {
      if (isRetryable(error) && attempt < ATTEMPTS_MAX) continue;
      if (!decided || isRetryable(error) || isNeverCommitted(error)) throw error;
      for (const act of acts) act(db);
      throw new CommitUnknown(error);
    }
  }
}

/**
 * Has `act` called with the transaction's pool as soon as the transaction has committed, or may have; never after a
 * rollback. A process that dies in between never calls it: only for what is found without it, though later.
 *
 * @param act quick, and never throws.
 */
export function afterCommit(tx: Tx, act: AfterCommit): void {
  const acts = waiting.get(tx);
  if (acts === undefined) throw new Error('afterCommit: this transaction was not begun by transact');
  acts.push(act);
}
