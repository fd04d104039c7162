import { isNeverCommitted } from './connection.ts';
import { type Db, isRetryable, type Tx } from './db.ts';

const ATTEMPTS_MAX = 8;

/**
 * COMMIT was sent and its answer was lost: the change may be committed or not. The caller must read before it repeats.
 */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('the answer to COMMIT was lost; read the resource before repeating the request', { cause });
  }
}

type AfterCommit = (db: Db) => void;
const waiting = new WeakMap<Tx, AfterCommit[]>();

/**
 * Runs `change` in one transaction; only a throw rolls back. A transaction that lost a race (deadlock, serialisation)
 * is run again from its start, so `change` must have no effect outside the database, except through `afterCommit`.
 *
 * @throws CommitUnknown if the connection broke during COMMIT
 */
export async function transact<T>(db: Db, change: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let decided = false;
    const acts: AfterCommit[] = [];
    try {
      const result = await db.transaction().execute(async (begun) => {
        const tx = begun as Tx;
        waiting.set(tx, acts);
        const changed = await change(tx);
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
 * Calls `act` with the transaction's pool as soon as the transaction has committed, or may have; never after a
 * rollback. If the process dies in between, `act` is never called: use it only for work that is also found later
 * without it.
 *
 * @param act must be quick and must not throw
 */
export function afterCommit(tx: Tx, act: AfterCommit): void {
  const acts = waiting.get(tx);
  if (acts === undefined) throw new Error('afterCommit: this transaction was not begun by transact');
  acts.push(act);
}
