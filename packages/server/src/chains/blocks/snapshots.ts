/**
 * The newest reading of a chain, made once for all who ask at the same time. The one before is kept when it is outdated:
 * the next one is compared with it, which shows whether final blocks were replaced.
 */
export class Snapshots<Snapshot> {
  readonly #read: (before: Snapshot | undefined) => Promise<Snapshot>;
  #last: { value: Snapshot; begunAtMs: number } | undefined;
  #reading: Promise<Snapshot> | undefined;

  constructor(read: (before: Snapshot | undefined) => Promise<Snapshot>) {
    this.#read = read;
  }

  /** The last one, however old. */
  get last(): Snapshot | undefined {
    return this.#last?.value;
  }

  /** The last one if its reading began less than so long ago, else a new one. @throws ChainUnavailable */
  async youngerThan(ageMs: number): Promise<Snapshot> {
    const last = this.#last;
    if (last !== undefined && performance.now() - last.begunAtMs < ageMs) return last.value;
    return await this.refresh();
  }

  /** One whose reading begins after the call. @throws ChainUnavailable */
  async next(): Promise<Snapshot> {
    await this.#reading?.catch(() => undefined);
    return await this.refresh();
  }

  /** A new one, or the one that is being read. @throws ChainUnavailable */
  async refresh(): Promise<Snapshot> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
    });
    return await this.#reading;
  }

  /** Makes the next call of `youngerThan` read the chain again. */
  outdate(): void {
    if (this.#last !== undefined) this.#last.begunAtMs = Number.NEGATIVE_INFINITY;
  }

  async #readNow(): Promise<Snapshot> {
    const begunAtMs = performance.now();
    const value = await this.#read(this.#last?.value);
    this.#last = { value, begunAtMs };
    return value;
  }
}

/** Runs one work at a time, in the order of the calls: who comes second finds what the first has read. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return await mine;
  }
}
