import { connect } from '../../packages/server/src/platform/db/db.ts';
import {
  type SubscriptionFilter,
  subscriptionPage,
} from '../../packages/server/src/subscriptions/queries.ts';
import { furnish } from '../create/merchant.ts';
import type { BenchServer } from '../database.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RowId, RunOptions } from '../rows.ts';
import { startService } from '../service.ts';
import { customerAt, fill } from './fill.ts';
import { type Filled, ListRounds, type ReadPage } from './rounds.ts';

const SMALL = 10_000;
const LIMIT = 100;
const PATH = `/api/v1/subscriptions?limit=${LIMIT}`;

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

/** @throws Error where the rows are not there: a fast answer counts only with them */
const reading =
  (asked: Asked): ReadPage =>
  async ({ db, owner, rows }, nth) => {
    const filter = { ...asked(rows, nth), limit: LIMIT };
    const page = await subscriptionPage(db, owner, filter).execute();
    if (page.length < (filter.customer === undefined ? LIMIT : 1))
      throw new Error(`a page of ${page.length} rows: ${JSON.stringify(filter)}`);
  };

/** Row 5: the subscription list stays as fast as its table grows, and costs little more than its query. */
export async function runList(server: BenchServer, options: RunOptions): Promise<Findings> {
  const rows = options.quick ? 200_000 : 5_000_000;
  const small = await makeTable(server, SMALL);
  options.log(`  filling ${rows.toLocaleString('en-US')} rows`);
  const big = await makeTable(server, rows);
  try {
    const rounds = new ListRounds(`List of ${LIMIT} subscriptions`, small, big, options);
    const wanted = FILTERS.filter(({ row }) => options.wanted.has(row));
    const settings = wanted.map(({ name, asked }) => rounds.growth(name, reading(asked)));
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
    const setting = rounds.answered(
      service.baseUrl,
      PATH,
      reading(() => ({})),
    );
    // Until the engine has compiled what is hot.
    await setting.run();
    return (await interleave([setting], options))[setting.name] ?? [];
  } finally {
    await service.stop();
  }
}
