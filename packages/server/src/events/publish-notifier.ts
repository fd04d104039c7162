import type { Db, Tx } from '../platform/db/index.ts';
import { afterCommit } from '../platform/db/index.ts';

/** Listeners of this process, by the pool that they read from. */
const listeners = new WeakMap<Db, Set<() => void>>();

/** Calls back whenever this process has published events through the pool. @returns a function that removes the listener */
export function onPublished(db: Db, listener: () => void): () => void {
  const known = listeners.get(db) ?? new Set();
  listeners.set(db, known.add(listener));
  return () => known.delete(listener);
}

/** Notifies the listeners of this process once the transaction has committed. Other processes poll. */
export function notifyPublished(tx: Tx): void {
  afterCommit(tx, (db) => {
    for (const listener of listeners.get(db) ?? []) listener();
  });
}
