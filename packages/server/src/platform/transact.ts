import { type Db, isRetryable, type Tx } from './db.ts';

const ATTEMPTS_MAX = 8;

/** COMMIT was sent and its answer was lost: the change may stand or not. The caller reads back before it repeats. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('the answer to COMMIT was lost; read the resource before repeating the request', { cause });
  }
}

/**
 * Runs `change` in one transaction; only a throw rolls back. A transaction that lost a race (deadlock, serialisation)
 * is run again whole, so `change` holds no effect outside the database.
 *
 * @throws CommitUnknown when the connection broke while committing.
 */
export async function transact<T>(db: Db, change: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let decided = false;
    try {
      return await db.transaction().execute(async (tx) => {
        const result = await change(tx as Tx);
        decided = true;
        return result;
      });
    } catch (error) {
      if (isRetryable(error) && attempt < ATTEMPTS_MAX) continue;
      if (decided && !isRetryable(error)) throw new CommitUnknown(error);
      throw error;
    }
  }
}
