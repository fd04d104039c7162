import type { Db } from './db.ts';

export interface GatherOptions<Ask, Answer> {
  /** Answers many asks of one key together, in their order. What it throws is thrown to each of them. */
  load: (key: string, asks: readonly Ask[]) => Promise<readonly Answer[]>;
  /** Asks of one load at most. */
  most?: number;
  /** Asks wait so long for a load of their key that is under way, then for none: it may hang. */
  patienceMs?: number;
}

const DEFAULTS = { most: 200, patienceMs: 20 };

interface Entry<Ask, Answer> {
  ask: Ask;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** What waits for one key, and how many loads of it are under way. */
interface Lane<Ask, Answer> {
  waiting: Entry<Ask, Answer>[];
  underWay: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Asks that come at the same time are answered by one load: those of one turn of the loop, and those that come while a
 * load of their key is under way. A load begins after each ask that it answers, so that nobody hears anything older than
 * a call of its own would have told. Never asked within a transaction, whose connection a load could wait for.
 */
export class Gather<Ask, Answer> {
  readonly #options: Required<GatherOptions<Ask, Answer>>;
  readonly #lanes = new Map<string, Lane<Ask, Answer>>();

  constructor(options: GatherOptions<Ask, Answer>) {
    this.#options = { ...DEFAULTS, ...options };
  }

  ask(key: string, ask: Ask): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const lane = this.#laneOf(key);
    lane.waiting.push({ ask, resolve, reject });
    if (lane.waiting.length === 1 && lane.underWay === 0) setImmediate(() => this.#begin(key, lane));
    else if (lane.underWay > 0)
      lane.timer ??= setTimeout(() => this.#begin(key, lane), this.#options.patienceMs);
    return promise;
  }

  #laneOf(key: string): Lane<Ask, Answer> {
    const lane = this.#lanes.get(key) ?? { waiting: [], underWay: 0, timer: undefined };
    this.#lanes.set(key, lane);
    return lane;
  }

  #begin(key: string, lane: Lane<Ask, Answer>): void {
    clearTimeout(lane.timer);
    lane.timer = undefined;
    while (lane.waiting.length > 0) void this.#run(key, lane, lane.waiting.splice(0, this.#options.most));
  }

  async #run(key: string, lane: Lane<Ask, Answer>, entries: readonly Entry<Ask, Answer>[]): Promise<void> {
    lane.underWay += 1;
    try {
      const answers = await this.#options.load(
        key,
        entries.map(({ ask }) => ask),
      );
      if (answers.length !== entries.length) throw new Error('a load answers each ask once');
      for (const [i, { resolve }] of entries.entries()) resolve(answers[i] as Answer);
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
    lane.underWay -= 1;
    if (lane.underWay === 0 && lane.waiting.length > 0) this.#begin(key, lane);
    if (lane.underWay === 0) this.#lanes.delete(key);
  }
}

/** One gather for each pool. */
export function gatherByPool<Ask, Answer>(
  optionsOf: (db: Db) => GatherOptions<Ask, Answer>,
): (db: Db) => Gather<Ask, Answer> {
  const known = new WeakMap<Db, Gather<Ask, Answer>>();
  return (db) => {
    const gather = known.get(db) ?? new Gather(optionsOf(db));
    known.set(db, gather);
    return gather;
  };
}
