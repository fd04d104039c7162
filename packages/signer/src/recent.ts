/** Values that were computed before. When there are more than so many, the oldest is computed again. */
export class Recent<Name, Value> {
  readonly #most: number;
  readonly #values = new Map<Name, Value>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#values.size;
  }

  get(name: Name, compute: () => Value): Value {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const value = compute();
    const [oldest] = this.#values.keys();
    if (this.#values.size >= this.#most && oldest !== undefined) this.#values.delete(oldest);
    this.#values.set(name, value);
    return value;
  }
}
