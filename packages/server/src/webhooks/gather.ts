import type { Room } from './room.ts';

/**
 * Does the work of callers together: what comes for a key while its work is under way waits and goes along with the
 * next one. A caller that comes now is served by work that begins later, so it sees all that was committed before.
 */
export class Gather<In, Out> {
  readonly #work: (key: string, inputs: In[]) => Promise<readonly Out[]>;
  readonly #inputsMax: number;
  readonly #room: Room | undefined;
  readonly #waiting = new Map<string, Entry<In, Out>[]>();
  readonly #working = new Set<string>();

  /**
   * @param work one result an input, in the same order
   * @param room how many works may be under way at once, of all keys; what waits for a place gathers meanwhile
   */
  constructor(inputsMax: number, work: (key: string, inputs: In[]) => Promise<readonly Out[]>, room?: Room) {
    this.#inputsMax = inputsMax;
    this.#work = work;
    this.#room = room;
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
    while (this.#waiting.has(key)) {
      const leave = await this.#room?.enter();
      await this.#do(key, this.#take(key));
      leave?.();
    }
    this.#working.delete(key);
  }

  async #do(key: string, entries: readonly Entry<In, Out>[]): Promise<void> {
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
