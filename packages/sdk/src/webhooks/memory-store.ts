import type { SequenceStore } from './sequence-store.ts';

const KEYS_MAX = 100_000;

/** What one unit of work has locked and will write. */
interface MemoryTransaction {
  readonly advanced: Map<string, number>;
  readonly locked: Set<string>;
  readonly ended: Promise<void>;
}

/**
 * Marks in the memory of one process, gone when it ends: for tests, and for handlers that bear to see an event again.
 * Keeps the keys that were advanced last, 100,000 of them.
 */
export class MemoryStore implements SequenceStore<MemoryTransaction> {
  readonly #kept = new Map<string, number>();
  /** Until when a key is locked. */
  readonly #locks = new Map<string, Promise<void>>();
  readonly #keysMax: number;

  constructor(keysMax: number = KEYS_MAX) {
    this.#keysMax = keysMax;
  }

  async transaction<T>(work: (tx: MemoryTransaction) => Promise<T>): Promise<T> {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const tx: MemoryTransaction = { advanced: new Map(), locked: new Set(), ended };
    try {
      const result = await work(tx);
      for (const [key, sequence] of tx.advanced) this.#keep(key, sequence);
      return result;
    } finally {
      for (const key of tx.locked) this.#locks.delete(key);
      end();
    }
  }

  async advance(tx: MemoryTransaction, key: string, sequence: number): Promise<boolean> {
    await this.#lock(tx, key);
    const last = tx.advanced.get(key) ?? this.#kept.get(key) ?? 0;
    if (sequence <= last) return false;
    tx.advanced.set(key, sequence);
    return true;
  }

  async #lock(tx: MemoryTransaction, key: string): Promise<void> {
    if (tx.locked.has(key)) return;
    // Of several that wait for the same end, the first to wake takes the key and the others wait again.
    for (let held = this.#locks.get(key); held !== undefined; held = this.#locks.get(key)) await held;
    this.#locks.set(key, tx.ended);
    tx.locked.add(key);
  }

  #keep(key: string, sequence: number): void {
    // A map keeps the order of insertion: what was advanced last goes to its end.
    this.#kept.delete(key);
    this.#kept.set(key, sequence);
    const [oldest] = this.#kept.size > this.#keysMax ? this.#kept.keys() : [];
    if (oldest !== undefined) this.#kept.delete(oldest);
  }
}
