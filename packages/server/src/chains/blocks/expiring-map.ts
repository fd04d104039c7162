/** Entries that are forgotten after a while, the oldest first where there are too many. */
export class ExpiringMap<K, V> {
  readonly #entries = new Map<K, { value: V; weight: number; readAtMs: number }>();
  readonly #keepMs: number;
  readonly #weightMax: number;
  #weight = 0;

  /** @param keepMs 0: nothing is kept */
  constructor(keepMs: number, weightMax: number) {
    this.#keepMs = keepMs;
    this.#weightMax = weightMax;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (performance.now() - entry.readAtMs < this.#keepMs) return entry.value;
    this.#drop(key);
    return undefined;
  }

  set(key: K, value: V, weight = 1): void {
    this.#drop(key);
    if (this.#keepMs === 0) return;
    this.#entries.set(key, { value, weight, readAtMs: performance.now() });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#weightMax) break;
      this.#drop(oldest);
    }
  }

  /** Those that are kept. */
  keys(): K[] {
    const begin = performance.now() - this.#keepMs;
    return [...this.#entries].flatMap(([key, { readAtMs }]) => (readAtMs > begin ? [key] : []));
  }

  #drop(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
