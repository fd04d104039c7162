import type { Db } from '../../packages/server/src/platform/db/db.ts';
import { load } from '../create/load.ts';
import type { Premises } from '../create/merchant.ts';
import { buildReads } from '../create/requests.ts';
import type { Setting } from '../rounds.ts';
import type { RunOptions } from '../rows.ts';
import { median, percentile, short } from '../statistics.ts';
import type { ListOwner } from './fill.ts';

/** Queries of a filter before its clock starts: the ones before were another filter's. */
const WARM_UP = 20;
const HUNDRED = 100;
/** Hundreds of queries whose slowest ones are compared, for each hundred whose middle would do. */
const SLOWEST = 3;
/** Of each comparison of the list with its own query, alternating so that both see the same machine. */
const PIECES = 10;

/** A table, and a connection to it as the service has them. */
export interface Filled {
  rows: number;
  premises: Premises;
  owner: ListOwner;
  db: Db;
}

/** Reads a page for the nth time. @throws Error if the rows are not there: a fast answer counts only with them */
export type ReadPage = (table: Filled, nth: number) => Promise<unknown>;

/** Compares how long a page of a list takes in a big and in a small table. */
export class ListRounds {
  readonly #what: string;
  readonly #small: Filled;
  readonly #big: Filled;
  readonly #queries: number;
  readonly #p50s = new Map<string, number[]>();

  constructor(what: string, small: Filled, big: Filled, { quick }: Pick<RunOptions, 'quick'>) {
    this.#what = what;
    this.#small = small;
    this.#big = big;
    this.#queries = quick ? 200 : 1_000;
  }

  /**
   * How much longer the slowest of a hundred queries takes in the big table than in the small one. Each hundred has its
   * own, and the middle of them is taken: somebody else's burst of work reaches a few hundreds, and would be all that a
   * single 99th percentile shows.
   */
  growth(name: string, read: ReadPage): Setting {
    const run = async () => {
      const tables = [
        { table: this.#small, tookMs: [] as number[] },
        { table: this.#big, tookMs: [] as number[] },
      ];
      for (let nth = -WARM_UP; nth < this.#queries * SLOWEST; nth++) {
        // Neither is always asked right behind the other, whose rows have just been through the processor's caches.
        for (const { table, tookMs } of nth % 2 === 0 ? tables : tables.toReversed()) {
          const ms = await time(table, read, Math.abs(nth));
          if (nth >= 0) tookMs.push(ms);
        }
      }
      const [small = [], big = []] = tables.map(({ tookMs }) => tookMs);
      this.#note(`${name}, small`, small);
      this.#note(`${name}, big`, big);
      return slowestOfHundred(big) / slowestOfHundred(small);
    };
    return { name, run };
  }

  /** Milliseconds that the slowest of a hundred queries takes in the big table. */
  slowest(name: string, read: ReadPage): Setting {
    const run = async () => {
      const tookMs: number[] = [];
      for (let nth = -WARM_UP; nth < this.#queries; nth++) {
        const ms = await time(this.#big, read, Math.abs(nth));
        if (nth >= 0) tookMs.push(ms);
      }
      this.#note(`${name}, big`, tookMs);
      return slowestOfHundred(tookMs);
    };
    return { name, run };
  }

  /** How much longer an answer takes than its query. */
  answered(baseUrl: string, path: string, read: ReadPage): Setting {
    const { premises } = this.#big;
    const run = async () => {
      const [direct, http]: [number[], number[]] = [[], []];
      const pieceOf = Math.ceil(this.#queries / PIECES);
      for (let piece = 0; piece < PIECES; piece++) {
        const requests = buildReads(premises, pieceOf, path);
        http.push(...(await load(baseUrl, requests, 1)).latenciesMs);
        for (let nth = 0; nth < pieceOf; nth++) direct.push(await time(this.#big, read, nth));
      }
      this.#note('over HTTP', http);
      return percentile(http, 0.5) / percentile(direct, 0.5);
    };
    return { name: 'over HTTP against its query', run };
  }

  #note(name: string, tookMs: readonly number[]): void {
    this.#p50s.set(name, [...(this.#p50s.get(name) ?? []), percentile(tookMs, 0.5)]);
  }

  remarks(): string[] {
    const parts = [...this.#p50s].map(([name, values]) => `${name} ${short(median(values))} ms`);
    return [
      `${this.#what}, p50 of ${this.#small.rows.toLocaleString('en-US')} and of ` +
        `${this.#big.rows.toLocaleString('en-US')} rows: ${parts.join(', ')}.`,
    ];
  }
}

/** Milliseconds of the slowest query of a hundred, in the middle of all hundreds. */
function slowestOfHundred(tookMs: readonly number[]): number {
  const hundreds = Array.from({ length: Math.floor(tookMs.length / HUNDRED) }, (_, n) =>
    tookMs.slice(n * HUNDRED, (n + 1) * HUNDRED),
  );
  return median(hundreds.map((hundred) => Math.max(...hundred)));
}

async function time(table: Filled, read: ReadPage, nth: number): Promise<number> {
  const startMs = performance.now();
  await read(table, nth);
  return performance.now() - startMs;
}
