import type { Db, Tx } from '../platform/db/index.ts';
import { afterCommit } from '../platform/db/index.ts';

/** Who in this process wants to know at once that there is something new, by the pool that it reads from. */
const listeners = new WeakMap<Db, Set<() => void>>();

/** Calls back whenever this process has published events through the pool. @returns what ends it */
export function onPublished(db: Db, listener: () => void): () => void {
  const known = listeners.get(db) ?? new Set();
  listeners.set(db, known.add(listener));
  return () => known.delete(listener);
}

/** Events were numbered: told when that is committed. Other processes find it by looking. */
export function tellPublished(tx: Tx): void {
  afterCommit(tx, (db) => {
    for (const listener of listeners.get(db) ?? []) listener();
  });
}
