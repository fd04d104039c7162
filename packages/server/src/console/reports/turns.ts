import { Fail } from '../../platform/fail.ts';
import { Semaphore } from '../../platform/jobs/index.ts';

/** That a process reads at once, as many as its reports have connections: the others wait. */
const AT_ONCE = 2;
/** Of one merchant, so that another one's report begins as soon as one of the two is read. */
const MERCHANT_AT_ONCE = 1;
/** That one person waits for, people of a merchant who wait, and people who wait: nobody keeps the others from theirs. */
const OWN_MAX = 3;
const MERCHANT_READERS_MAX = 6;
const READERS_MAX = 60;

/** Who asks, and whose report it is. */
interface Asking {
  merchantId: string;
  reader: string;
}

/** The people of a merchant who wait, with how many reports each waits for. */
interface MerchantQueue {
  turns: Semaphore;
  readers: Map<string, number>;
}

/** The order in which people get what takes long to read: merchants take turns, and so do the people of one. */
export class Turns {
  readonly #turns = new Semaphore(AT_ONCE);
  readonly #merchants = new Map<string, MerchantQueue>();

  /** @throws Fail `rate_limited` where they wait for others, or very many of the merchant's people or of all do */
  async run<T>(asking: Asking, read: () => Promise<T>): Promise<T> {
    const queue = this.#enter(asking);
    // One merchant waits for a connection once, however many of its people wait.
    const releaseMerchant = await queue.turns.acquire();
    const release = await this.#turns.acquire();
    try {
      return await read();
    } finally {
      release();
      releaseMerchant();
      this.#leave(asking, queue);
    }
  }

  #enter({ merchantId, reader }: Asking): MerchantQueue {
    const queue = this.#merchants.get(merchantId) ?? {
      turns: new Semaphore(MERCHANT_AT_ONCE),
      readers: new Map<string, number>(),
    };
    const own = queue.readers.get(reader) ?? 0;
    const isFull = queue.readers.size >= MERCHANT_READERS_MAX || this.#readers() >= READERS_MAX;
    if (own >= OWN_MAX || (own === 0 && isFull))
      throw new Fail('rate_limited', {
        message: 'Reports are being read. Ask again when they are there.',
        retryAfterSeconds: 5,
      });
    queue.readers.set(reader, own + 1);
    this.#merchants.set(merchantId, queue);
    return queue;
  }

  #readers(): number {
    return [...this.#merchants.values()].reduce((sum, { readers }) => sum + readers.size, 0);
  }

  #leave({ merchantId, reader }: Asking, { readers }: MerchantQueue): void {
    const left = (readers.get(reader) ?? 0) - 1;
    if (left > 0) readers.set(reader, left);
    else readers.delete(reader);
    if (readers.size === 0) this.#merchants.delete(merchantId);
  }
}

/** Of all reports, which share their connections. */
export const reportTurns = new Turns();
