import { setTimeout as sleep } from 'node:timers/promises';
import type { Room } from './room.ts';

/** Of the time, works that begin at intervals take at most about a fifth. */
const REST_TIMES = 4;

/**
 * Does the work of callers together: what comes for a key while its work is under way waits and goes along with the
 * next one. A caller that comes now is served by work that begins later, so it sees all that was committed before.
 */
export class Gather<In, Out> {
  readonly #work: (key: string, inputs: In[]) => Promise<readonly Out[]>;
  readonly #inputsMax: number;
  readonly #room: Room | undefined;
  readonly #everyMs: number;
  readonly #waiting = new Map<string, Entry<In, Out>[]>();
  readonly #working = new Set<string>();

  /** @param work one result an input, in the same order */
  constructor(
    inputsMax: number,
    work: (key: string, inputs: In[]) => Promise<readonly Out[]>,
    { room, everyMs = 0 }: GatherOptions = {},
  ) {
    this.#inputsMax = inputsMax;
    this.#work = work;
    this.#room = room;
    this.#everyMs = everyMs;
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
      const begunMs = performance.now();
      await this.#do(key, this.#take(key));
      leave?.();
      const restMs = this.#restMs(performance.now() - begunMs);
      const isFull = (this.#waiting.get(key)?.length ?? 0) >= this.#inputsMax;
      if (restMs > 0 && !isFull) await sleep(restMs);
    }
    this.#working.delete(key);
  }

  /** Where works take longer than they should, fewer and larger ones relieve whoever is busy. */
  #restMs(tookMs: number): number {
    if (this.#everyMs === 0) return 0;
    return Math.min(Math.max(this.#everyMs - tookMs, tookMs * REST_TIMES), this.#everyMs * REST_TIMES);
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

interface GatherOptions {
  /** How many works may be under way at once, of all keys; what waits for a place gathers meanwhile. */
  room?: Room;
  /**
   * Two works of a key begin at least so far apart (0), up to four times that where each takes long, unless a whole one
   * waits. The first one begins at once.
   */
  everyMs?: number;
}

interface Entry<In, Out> {
  input: In;
  resolve: (result: Out) => void;
  reject: (error: unknown) => void;
}
