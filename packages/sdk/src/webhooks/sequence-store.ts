/**
 * Stores which events were handled: a table of keys and numbers, one per guarded handler. `Tx` is a transaction
 * of the database.
 */
export interface SequenceStore<Tx> {
  /**
   * Runs `work` in one transaction: what it advanced is kept if it resolves and forgotten if it throws. Of two works
   * that advance the same key, the second waits for the end of the first.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Atomically sets `key` to `sequence` if it is unset or lower. @returns whether it did */
  advance(tx: Tx, key: string, sequence: number): Promise<boolean>;
}
