/** One in so many places goes to whoever has the last rank of those who wait, so that nobody waits for ever. */
const LAST_RANK_EVERY = 8;

/** Lets so many in at a time: the lowest rank first, of one rank in the order in which they came. */
export class Room {
  /** By rank. */
  readonly #waiting: (() => void)[][] = [];
  #free: number;
  #given = 0;

  constructor(places: number) {
    this.#free = places;
  }

  /** @returns how to leave; leaving again does nothing */
  async enter(rank = 0): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#queue(rank).push(resolve));
    return this.#exit();
  }

  /** Takes a place even where none is free: those who wait wait longer. @returns how to leave */
  take(): () => void {
    this.#free -= 1;
    return this.#exit();
  }

  #queue(rank: number): (() => void)[] {
    while (this.#waiting.length <= rank) this.#waiting.push([]);
    return this.#waiting[rank] ?? [];
  }

  #exit(): () => void {
    let isIn = true;
    return () => {
      if (isIn) this.#leave();
      isIn = false;
    };
  }

  #leave(): void {
    this.#free += 1;
    if (this.#free <= 0) return;
    this.#given += 1;
    const isLast = this.#given % LAST_RANK_EVERY === 0;
    const isAnybody = (queue: readonly unknown[]) => queue.length > 0;
    const queue = isLast ? this.#waiting.findLast(isAnybody) : this.#waiting.find(isAnybody);
    const next = queue?.shift();
    if (next === undefined) return;
    this.#free -= 1;
    next();
  }
}
