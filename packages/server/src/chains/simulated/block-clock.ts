/** The height a chain starts with: final blocks exist from the first moment. */
export const FIRST_HEIGHT = 100n;

export interface BlockSettings {
  /** Seconds of the merchant's clock from block to block. */
  blockSeconds: number;
  /** The confirmations that make a block final; the newest block has one. */
  confirmations: number;
}

/** The part of a chain's row that determines its height. */
export interface ChainTime {
  genesis_at: bigint;
  height_offset: bigint;
  settled_height: bigint;
  settled_at: bigint;
}

/**
 * Height as a function of the merchant's time: no ticker makes blocks, and empty ones have no rows. Blocks up to
 * `settledHeight` are closed; the ones from there to `height` are open and include the mempool's transactions.
 */
export class BlockClock {
  readonly now: number;
  readonly height: bigint;
  readonly settledHeight: bigint;
  readonly #time: ChainTime;
  readonly #settings: BlockSettings;
  /** Seconds that this node lags. */
  readonly #late: number;

  constructor(time: ChainTime, now: number, settings: BlockSettings, lag = 0n) {
    this.#time = time;
    this.#settings = settings;
    // Two processes may read the clock in one order and get here in the other: neither time nor height goes back.
    const latest = Math.max(now, Number(time.settled_at));
    this.settledHeight = time.settled_height;
    const byClock = this.#heightBefore(latest);
    const newest = byClock > time.settled_height ? byClock : time.settled_height;
    this.#late = Number(lag) * settings.blockSeconds;
    this.now = latest - this.#late;
    this.height = newest > lag ? newest - lag : 0n;
  }

  /** The clock of a node that lags so many blocks. */
  behind(blocks: bigint): BlockClock {
    return new BlockClock(this.#time, this.now, this.#settings, blocks);
  }

  get finalHeight(): bigint {
    return this.height - BigInt(this.#settings.confirmations) + 1n;
  }

  /** The earliest time (Unix seconds) of the newest final block: a transaction that expired by then is dead. */
  get finalTime(): number {
    return this.now - this.#settings.confirmations * this.#settings.blockSeconds;
  }

  /** The first open block at or after that time (Unix seconds). */
  firstBlockAt(time: number): bigint {
    const open = this.settledHeight + 1n;
    if (time <= Number(this.#time.settled_at)) return open;
    const byClock = this.#heightBefore(time + this.#settings.blockSeconds - 1);
    return byClock > open ? byClock : open;
  }

  /** Unix seconds of an open block. Blocks mined by hand have the time of that call. */
  timeOf(height: bigint): number {
    const blocks = height - FIRST_HEIGHT - this.#time.height_offset;
    const byClock = Number(this.#time.genesis_at) + Number(blocks) * this.#settings.blockSeconds;
    return Math.max(byClock, Number(this.#time.settled_at));
  }

  /** When this node will report a block as final (Unix seconds), unless blocks are mined by hand before. */
  finalAt(height: bigint): number {
    return this.timeOf(height + BigInt(this.#settings.confirmations) - 1n) + this.#late;
  }

  #heightBefore(time: number): bigint {
    const seconds = Math.max(0, time - Number(this.#time.genesis_at));
    const blocks = BigInt(Math.floor(seconds / this.#settings.blockSeconds));
    return FIRST_HEIGHT + this.#time.height_offset + blocks;
  }
}
