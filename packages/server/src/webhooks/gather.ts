/**
 * Does the work of callers together: what comes for a key while its work is under way waits and goes along with the
 * next one. A caller that comes now is served by work that begins later, so it sees all that was committed before.
 */
export class Gather<In, Out> {
  readonly #work: (key: string, inputs: In[]) => Promise<readonly Out[]>;
  readonly #inputsMax: number;
  readonly #waiting = new Map<string, Entry<In, Out>[]>();
  readonly #working = new Set<string>();

  /** @param work one result an input, in the same order */
  constructor(inputsMax: number, work: (key: string, inputs: In[]) => Promise<readonly Out[]>) {
    this.#inputsMax = inputsMax;
    this.#work = work;
  }

  async add(key: string, input: In): Promise<Out> {
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    const entry = { input, resolve, reject };
    const waiting = this.#waiting.get(key);
    if (waiting) waiting.push(entry);
    else this.#waiting.set(key, [entry]);
    if (!this.#working.has(key)) {
      this.#working.add(key);
      // Callers of the same turn of the loop share the first work.
      setImmediate(() => void this.#drain(key));
    }
    return await promise;
  }

  async #drain(key: string): Promise<void> {
    for (let entries = this.#take(key); entries.length > 0; entries = this.#take(key)) {
      try {
        const results = await this.#work(
          key,
          entries.map(({ input }) => input),
        );
        for (const [i, { resolve }] of entries.entries()) resolve(results[i] as Out);
      } catch (error) {
        for (const { reject } of entries) reject(error);
      }
    }
    this.#working.delete(key);
  }

  #take(key: string): Entry<In, Out>[] {
    const entries = this.#waiting.get(key) ?? [];
    const taken = entries.splice(0, this.#inputsMax);
    if (entries.length === 0) this.#waiting.delete(key);
    return taken;
  }
}

interface Entry<In, Out> {
  input: In;
  resolve: (result: Out) => void;
  reject: (error: unknown) => void;
}
