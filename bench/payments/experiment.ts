import { search } from '../../packages/server/src/console/search/find.ts';
import { type PaymentFilter, paymentPage } from '../../packages/server/src/payments/reads/list-payments.ts';
import { viewsOf } from '../../packages/server/src/payments/reads/queries.ts';
import { connect } from '../../packages/server/src/platform/db/db.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { furnish } from '../create/merchant.ts';
import type { BenchServer } from '../database.ts';
import { type Filled, ListRounds, type ReadPage } from '../list/rounds.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RowId, RunOptions } from '../rows.ts';
import { fillPayments, namesOf, orderAt, SENDER } from './fill.ts';

const SMALL = 10_000;
const LIMIT = 100;
/** The rarest status has so many rows in the small table. */
const RARE = 10;

interface Case {
  row: RowId;
  name: string;
  least: number;
  filter: (rows: number, nth: number) => PaymentFilter;
}

const CASES: readonly Case[] = [
  { row: '16a', name: 'all', least: LIMIT, filter: () => ({}) },
  { row: '16b', name: 'by a rare status', least: RARE, filter: () => ({ status: 'processing' }) },
  {
    row: '16c',
    name: 'by order',
    least: 1,
    filter: (rows, nth) => ({ orderId: orderAt(rows, 1 + nth * 7_919) }),
  },
  { row: '16d', name: 'by exception', least: RARE, filter: () => ({ exception: 'late' }) },
];

const reading =
  ({ name, least, filter }: Case): ReadPage =>
  async ({ db, owner, rows }, nth) => {
    // As many rows from both tables.
    const limit = Math.min(LIMIT, least);
    const page = await paymentPage(db, owner, filter(rows, nth), { limit }).execute();
    if (page.length < least) throw new Error(`a page of ${page.length} rows: ${name}`);
    await viewsOf(db, page.slice(0, limit));
  };

/** Every payment is of this amount, and was sent by one exchange: of so many the newest ones are shown. */
const OF_MANY = ['19.99', '19.99 USDT', SENDER];
const NEWEST = 10;

/** What people type into the search, each in turn. */
const findOne: ReadPage = async ({ db, owner, rows }, nth) => {
  const { id, order, email, txId } = namesOf(rows, nth * 7_919);
  const whole = encodeId('payment', id);
  const named = [whole, whole.slice(0, -8), order, email, txId];
  const typed = [...named, ...OF_MANY][nth % (named.length + OF_MANY.length)] ?? whole;
  const { found } = await search(db, owner, typed);
  if (OF_MANY.includes(typed)) {
    if (found.length !== NEWEST) throw new Error(`${typed} finds ${found.length}`);
  } else if (!found.some((one) => one.id === whole)) throw new Error(`${typed} does not find ${whole}`);
};

const firstPage: ReadPage = async ({ db, owner }) => {
  const page = await paymentPage(db, owner, {}, { limit: LIMIT }).execute();
  if (page.length < LIMIT) throw new Error(`a page of ${page.length} rows`);
  await viewsOf(db, page);
};

const LASTING: readonly { row: RowId; name: string; read: ReadPage }[] = [
  { row: '22a', name: 'a page', read: firstPage },
  { row: '22b', name: 'search', read: findOne },
];

/** Rows 16 and 22: the list of payments and the search stay as fast as their tables grow. */
export async function runPayments(server: BenchServer, options: RunOptions): Promise<Findings> {
  const rows = options.quick ? 200_000 : 5_000_000;
  const small = await makeTable(server, SMALL);
  options.log(`  filling ${rows.toLocaleString('en-US')} payments`);
  const big = await makeTable(server, rows);
  try {
    const rounds = new ListRounds(`List of up to ${LIMIT} payments`, small, big, options);
    const wanted = CASES.filter(({ row }) => options.wanted.has(row));
    const lasting = LASTING.filter(({ row }) => options.wanted.has(row));
    const settings = [
      ...wanted.map((one) => rounds.growth(one.name, reading(one))),
      ...lasting.map(({ name, read }) => rounds.slowest(name, read)),
    ];
    const values = await interleave(settings, options);
    const note = `${rows.toLocaleString('en-US')} payments`;
    return {
      results: [...wanted, ...lasting].map(({ row, name }) => ({ row, values: values[name] ?? [], note })),
      remarks: rounds.remarks(),
    };
  } finally {
    await Promise.all([small.db.destroy(), big.db.destroy()]);
  }
}

async function makeTable(server: BenchServer, rows: number): Promise<Filled> {
  const premises = await furnish(await server.createDatabase());
  const { merchantId, storeId } = premises;
  const owner = { merchantId, storeId };
  await fillPayments(premises.databaseUrl, owner, rows);
  return { rows, premises, owner, db: connect({ url: premises.databaseUrl, poolSize: 1 }) };
}
