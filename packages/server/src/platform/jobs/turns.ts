export interface TurnLimits {
  /** Claims under way at once. */
  merchantsAtOnce: number;
  /** Handlers of one merchant running at once; more while few merchants have work. */
  batchSize: number;
  /** The part (0 to 1) of `runningMax` that merchants with work divide among them; the rest is for who comes later. */
  sharedPart: number;
  /** Jobs claimed and not yet settled, of all merchants. */
  runningMax: number;
  /** What a claim waits for, of `runningMax`: where all is taken, jobs that share their statements would come one by one. */
  roomMin: number;
}

/** Jobs that one statement takes at most, however much room there is. */
const CLAIM_MAX = 1_000;

/** A claim that may be made: at most so many jobs of this merchant. */
export interface Turn {
  merchantId: string;
  limit: number;
}

/**
 * Whose jobs are claimed next. Merchants stand in a queue; one whose batch came back full goes to its end, so that
 * a long backlog delays nobody else by more than a batch. Plain memory: it decides nothing about who holds a job.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #queue = new Set<string>();
  readonly #claiming = new Set<string>();
  readonly #running = new Map<string, number>();
  #reserved = 0;
  #held = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** This merchant may have due work. */
  add(merchantId: string): void {
    this.#queue.add(merchantId);
  }

  get isEmpty(): boolean {
    return this.#queue.size === 0;
  }

  get claims(): number {
    return this.#claiming.size;
  }

  /** The next claim, its room reserved; undefined when there is nobody or no room. `claimed` must follow. */
  next(): Turn | undefined {
    const { merchantsAtOnce, batchSize, runningMax, roomMin } = this.#limits;
    const room = runningMax - this.#held - this.#reserved;
    if (room < roomMin || this.#claiming.size >= merchantsAtOnce) return undefined;
    if (this.#queue.size === 0) return undefined;
    const share = this.#share();
    for (const merchantId of this.#queue) {
      const running = this.#running.get(merchantId) ?? 0;
      const free = share - running;
      // Room for half a batch is filled up; filling after every job would cost a statement a job.
      if (free < Math.min(batchSize, share) / 2 || this.#claiming.has(merchantId)) continue;
      const limit = Math.min(free, room, CLAIM_MAX);
      this.#queue.delete(merchantId);
      this.#claiming.add(merchantId);
      this.#reserved += limit;
      return { merchantId, limit };
    }
    return undefined;
  }

  #share(): number {
    const { batchSize, sharedPart, runningMax } = this.#limits;
    const shared = runningMax * sharedPart;
    const known = Math.max(this.#queue.size, this.#running.size);
    if (known * batchSize >= shared) return batchSize;
    const merchants = new Set([...this.#queue, ...this.#claiming, ...this.#running.keys()]);
    return Math.max(batchSize, Math.floor(shared / merchants.size));
  }

  /** The claim brought so many jobs, whose handlers begin now. */
  claimed({ merchantId, limit }: Turn, jobs: number): void {
    this.#claiming.delete(merchantId);
    this.#reserved -= limit;
    this.#held += jobs;
    if (jobs > 0) this.#running.set(merchantId, (this.#running.get(merchantId) ?? 0) + jobs);
    if (jobs === limit) this.add(merchantId);
  }

  /** A handler of this merchant ended; its job's outcome may still have to be written. */
  ended(merchantId: string): void {
    const running = (this.#running.get(merchantId) ?? 1) - 1;
    if (running > 0) this.#running.set(merchantId, running);
    else this.#running.delete(merchantId);
  }

  /** A job's row has been dealt with. */
  settled(): void {
    this.#held -= 1;
  }
}
