import { connect, type Db } from '../../packages/server/src/platform/db/db.ts';
import {
  type SubscriptionFilter,
  subscriptionPage,
} from '../../packages/server/src/subscriptions/queries.ts';
import { load } from '../create/load.ts';
import { furnish, type Premises } from '../create/merchant.ts';
import { buildReads } from '../create/requests.ts';
import type { BenchServer } from '../database.ts';
import { interleave, type Setting } from '../rounds.ts';
import type { Findings, RowId, RunOptions } from '../rows.ts';
import { startService } from '../service.ts';
import { median, percentile, short } from '../statistics.ts';
import { customerAt, fill, type ListOwner } from './fill.ts';

const SMALL = 10_000;
const LIMIT = 100;
const PATH = `/api/v1/subscriptions?limit=${LIMIT}`;
/** Queries of a filter before its clock starts: the ones before were another filter's. */
const WARM_UP = 20;
const HUNDRED = 100;
/** Hundreds of queries whose slowest ones are compared, for each hundred whose middle would do. */
const SLOWEST = 3;
/** Of each comparison of the list with its own query, alternating so that both see the same machine. */
const PIECES = 10;

type Filter = Omit<SubscriptionFilter, 'limit'>;
/** What is asked for the nth time in a table of so many rows. */
type Asked = (rows: number, nth: number) => Filter;

const FILTERS: readonly { row: RowId; name: string; asked: Asked }[] = [
  { row: '5a', name: 'all', asked: () => ({}) },
  { row: '5b', name: 'by status', asked: () => ({ status: 'past_due' }) },
  { row: '5c', name: 'by customer', asked: (rows, nth) => ({ customer: customerAt(rows, nth * 7_919) }) },
  {
    row: '5d',
    name: 'by customer and status',
    asked: (rows, nth) => ({ customer: customerAt(rows, nth * 7_919), status: 'active' }),
  },
];

/** A table, and a connection to it as the service has them. */
interface Filled {
  rows: number;
  premises: Premises;
  owner: ListOwner;
  db: Db;
}

/** Row 5: the subscription list stays as fast as its table grows, and costs little more than its query. */
export async function runList(server: BenchServer, options: RunOptions): Promise<Findings> {
  const rows = options.quick ? 200_000 : 5_000_000;
  const small = await makeTable(server, SMALL);
  options.log(`  filling ${rows.toLocaleString('en-US')} rows`);
  const big = await makeTable(server, rows);
  try {
    const rounds = new ListRounds(small, big, options);
    const wanted = FILTERS.filter(({ row }) => options.wanted.has(row));
    const settings = wanted.map(({ name, asked }) => rounds.growth(name, asked));
    const values = await interleave(settings, options);
    const results: Findings['results'] = wanted.map(({ row, name }) => ({
      row,
      values: values[name] ?? [],
      note: `${rows.toLocaleString('en-US')} rows`,
    }));
    if (options.wanted.has('5e')) results.push({ row: '5e', values: await overHttp(rounds, big, options) });
    return { results, remarks: rounds.remarks() };
  } finally {
    await Promise.all([small.db.destroy(), big.db.destroy()]);
  }
}

async function makeTable(server: BenchServer, rows: number): Promise<Filled> {
  const premises = await furnish(await server.createDatabase());
  const { merchantId, storeId } = premises;
  await fill(premises.databaseUrl, { merchantId, storeId }, rows);
  return {
    rows,
    premises,
    owner: { merchantId, storeId },
    db: connect({ url: premises.databaseUrl, poolSize: 1 }),
  };
}

async function overHttp(rounds: ListRounds, { premises }: Filled, options: RunOptions): Promise<number[]> {
  const service = await startService(premises, options);
  try {
    const setting = rounds.answered(service.baseUrl);
    // Until the engine has compiled what is hot.
    await setting.run();
    return (await interleave([setting], options))[setting.name] ?? [];
  } finally {
    await service.stop();
  }
}

class ListRounds {
  readonly #small: Filled;
  readonly #big: Filled;
  readonly #queries: number;
  readonly #p50s = new Map<string, number[]>();

  constructor(small: Filled, big: Filled, { quick }: RunOptions) {
    this.#small = small;
    this.#big = big;
    this.#queries = quick ? 200 : 1_000;
  }

  /**
   * How much longer the slowest of a hundred queries takes in the big table than in the small one. Each hundred has its
   * own, and the middle of them is taken: somebody else's burst of work reaches a few hundreds, and would be all that a
   * single 99th percentile shows.
   */
  growth(name: string, asked: Asked): Setting {
    const run = async () => {
      const tables = [
        { table: this.#small, tookMs: [] as number[] },
        { table: this.#big, tookMs: [] as number[] },
      ];
      for (let nth = -WARM_UP; nth < this.#queries * SLOWEST; nth++) {
        // Neither is always asked right behind the other, whose rows have just been through the processor's caches.
        for (const { table, tookMs } of nth % 2 === 0 ? tables : tables.toReversed()) {
          const ms = await this.#time(table, asked, Math.abs(nth));
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

  /** How much longer an answer takes than its query. */
  answered(baseUrl: string): Setting {
    const { premises } = this.#big;
    const run = async () => {
      const [direct, http]: [number[], number[]] = [[], []];
      const pieceOf = Math.ceil(this.#queries / PIECES);
      for (let piece = 0; piece < PIECES; piece++) {
        const requests = buildReads(premises, pieceOf, PATH);
        http.push(...(await load(baseUrl, requests, 1)).latenciesMs);
        for (let nth = 0; nth < pieceOf; nth++) direct.push(await this.#time(this.#big, () => ({}), nth));
      }
      this.#note('over HTTP', http);
      return percentile(http, 0.5) / percentile(direct, 0.5);
    };
    return { name: 'over HTTP against its query', run };
  }

  async #time({ db, owner, rows }: Filled, asked: Asked, nth: number): Promise<number> {
    const filter = { ...asked(rows, nth), limit: LIMIT };
    const startMs = performance.now();
    const page = await subscriptionPage(db, owner, filter).execute();
    const tookMs = performance.now() - startMs;
    // A fast answer counts only if the rows are there.
    if (page.length < (filter.customer === undefined ? LIMIT : 1))
      throw new Error(`a page of ${page.length} rows: ${JSON.stringify(filter)}`);
    return tookMs;
  }

  #note(name: string, tookMs: readonly number[]): void {
    this.#p50s.set(name, [...(this.#p50s.get(name) ?? []), percentile(tookMs, 0.5)]);
  }

  remarks(): string[] {
    const parts = [...this.#p50s].map(([name, values]) => `${name} ${short(median(values))} ms`);
    return [
      `List of ${LIMIT} subscriptions, p50 of ${SMALL.toLocaleString('en-US')} and of ` +
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
