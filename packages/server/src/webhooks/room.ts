/** Lets so many in at a time, in the order in which they came. */
export class Room {
  readonly #waiting: (() => void)[] = [];
  readonly #preferred: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /**
   * @param isPreferred goes before all who are not
   * @returns how to leave; leaving again does nothing
   */
  async enter(isPreferred = false): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else {
      const queue = isPreferred ? this.#preferred : this.#waiting;
      await new Promise<void>((resolve) => queue.push(resolve));
    }
    let isIn = true;
    return () => {
      if (isIn) this.#leave();
      isIn = false;
    };
  }

  #leave(): void {
    const next = this.#preferred.shift() ?? this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
