export interface ClaimLimits {
  /** Claims under way at once. */
  merchantsAtOnce: number;
  /** Handlers of one merchant running at once; more while few merchants have work. */
  batchSize: number;
  /** The part (0 to 1) of `runningMax` that merchants with work share; the rest is kept for merchants that come later. */
  sharedPart: number;
  /** Jobs claimed and not yet settled, of all merchants. */
  runningMax: number;
  /**
   * Free room, of `runningMax`, that a claim waits for. On a full worker jobs would otherwise be claimed one by one and
   * could not share statements.
   */
  roomMin: number;
}

/** Jobs that one statement claims at most, however much room there is. */
const CLAIM_MAX = 1_000;

/** Permission for one claim: at most `limit` jobs of this merchant. */
export interface ClaimGrant {
  merchantId: string;
  limit: number;
}

/**
 * Decides which merchant's jobs are claimed next. Merchants wait in a queue; one whose batch came back full goes to its
 * end, so that a long backlog delays nobody else by more than a batch. It is plain memory and grants no leases.
 */
export class ClaimScheduler {
  readonly #limits: ClaimLimits;
  readonly #queue = new Set<string>();
  readonly #claiming = new Set<string>();
  readonly #running = new Map<string, number>();
  #reserved = 0;
  #held = 0;

  constructor(limits: ClaimLimits) {
    this.#limits = limits;
  }

  /** Queues a merchant that may have due work. */
  add(merchantId: string): void {
    this.#queue.add(merchantId);
  }

  get isEmpty(): boolean {
    return this.#queue.size === 0;
  }

  get claims(): number {
    return this.#claiming.size;
  }

  /** Reserves room for the next claim; undefined when no merchant waits or no room is free. `claimed` must follow. */
  next(): ClaimGrant | undefined {
    const { merchantsAtOnce, batchSize, runningMax, roomMin } = this.#limits;
    const room = runningMax - this.#held - this.#reserved;
    if (room < roomMin || this.#claiming.size >= merchantsAtOnce) return undefined;
    if (this.#queue.size === 0) return undefined;
    const share = this.#share();
    for (const merchantId of this.#queue) {
      const running = this.#running.get(merchantId) ?? 0;
      const free = share - running;
      // Waits for room for half a batch: claiming after every job would cost a statement a job.
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

  /** Records that the claim returned so many jobs, whose handlers begin now. */
  claimed({ merchantId, limit }: ClaimGrant, jobs: number): void {
    this.#claiming.delete(merchantId);
    this.#reserved -= limit;
    this.#held += jobs;
    if (jobs > 0) this.#running.set(merchantId, (this.#running.get(merchantId) ?? 0) + jobs);
    if (jobs === limit) this.add(merchantId);
  }

  /** Records that a handler of this merchant ended; the outcome of its job may not be written yet. */
  ended(merchantId: string): void {
    const running = (this.#running.get(merchantId) ?? 1) - 1;
    if (running > 0) this.#running.set(merchantId, running);
    else this.#running.delete(merchantId);
  }

  /** Records that the outcome of a job is written. */
  settled(): void {
    this.#held -= 1;
  }
}
