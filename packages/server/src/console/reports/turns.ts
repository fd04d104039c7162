import { Fail } from '../../platform/fail.ts';
import { Semaphore } from '../../platform/jobs/index.ts';

/** That a process reads at once, as many as its reports have connections: the others wait. */
const AT_ONCE = 2;
/** That one person waits for, and people who wait: nobody keeps the others from theirs. */
const OWN_MAX = 3;
const READERS_MAX = 20;

/** The order in which people get what takes long to read. */
class Turns {
  readonly #turns = new Semaphore(AT_ONCE);
  readonly #waiting = new Map<string, number>();

  /** @param reader whose turn it is to be. @throws Fail `rate_limited` where they wait for others, or very many do */
  async run<T>(reader: string, read: () => Promise<T>): Promise<T> {
    this.#enter(reader);
    const release = await this.#turns.acquire();
    try {
      return await read();
    } finally {
      release();
      this.#leave(reader);
    }
  }

  #enter(reader: string): void {
    const own = this.#waiting.get(reader) ?? 0;
    const isNew = own === 0;
    if (own >= OWN_MAX || (isNew && this.#waiting.size >= READERS_MAX))
      throw new Fail('rate_limited', {
        message: 'Reports are being read. Ask again when they are there.',
        retryAfterSeconds: 5,
      });
    this.#waiting.set(reader, own + 1);
  }

  #leave(reader: string): void {
    const left = (this.#waiting.get(reader) ?? 0) - 1;
    if (left > 0) this.#waiting.set(reader, left);
    else this.#waiting.delete(reader);
  }
}

/** Of all reports, which share their connections. */
export const reportTurns = new Turns();
