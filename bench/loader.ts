import { sql } from 'kysely';
import { wordsOf } from '../packages/pages/src/words.ts';
import { connect, type Db } from '../packages/server/src/platform/db/index.ts';
import { READ_OVERLAP_AFTER_MS } from '../packages/server/src/platform/db/loaders/batch-loader.ts';
import { BatchLoader } from '../packages/server/src/platform/db/loaders/index.ts';
import { execute, startServer } from './database.ts';
import { cpuSeconds, serverCpuSeconds } from './procfs.ts';
import { interleave } from './rounds.ts';
import { median, medianAndSpread, short } from './statistics.ts';

wordsOf(
  `node scripts/run.js bench/loader.ts
  What BatchLoader is worth where it stays: concurrent reads of single rows, as jobs and requests read their merchant's
  settings, with up to 200 calls in a statement, and with a statement for each call.`,
  [0, 0],
);

const ROWS = 10_000;
const CALLS_AT_ONCE = 200;
const POOL_SIZE = 10;
const SECONDS = 2;
const ROUNDS = 9;
const WAYS = [
  ['batches of 200', 200],
  ['one by one', 1],
] as const;

const server = await startServer();
try {
  const url = await server.createDatabase();
  await execute(
    url,
    'create table setting (id integer primary key, value text not null)',
    `insert into setting select n, repeat('x', 100) from generate_series(1, ${ROWS}) n`,
    'vacuum analyze setting',
  );
  const db = connect({ url, poolSize: POOL_SIZE, onError: console.error });
  const cpu: Record<string, { node: number[]; postgres: number[] }> = {};
  const settings = WAYS.map(([name, maxBatch]) => ({
    name,
    run: async () => {
      const [node, postgres] = [cpuSeconds(process.pid), serverCpuSeconds(server.pid)];
      const reads = await readFor(loaderOf(db, maxBatch));
      cpu[name] ??= { node: [], postgres: [] };
      cpu[name].node.push(((cpuSeconds(process.pid) - node) / reads) * 1e6);
      cpu[name].postgres.push(((serverCpuSeconds(server.pid) - postgres) / reads) * 1e6);
      return reads / SECONDS;
    },
  }));
  const rates = await interleave(settings, { rounds: ROUNDS, log: console.log });
  for (const [name, values] of Object.entries(rates)) {
    const { node = [], postgres = [] } = cpu[name] ?? {};
    const spent = `${short(median(node))} µs of Node and ${short(median(postgres))} µs of PostgreSQL each`;
    console.log(`${name}: ${medianAndSpread(values)} reads a second, ${spent}`);
  }
  await db.destroy();
} finally {
  await server.stop();
}

function loaderOf(db: Db, maxBatch: number): BatchLoader<number, string | undefined> {
  return new BatchLoader({
    maxBatch,
    overlapAfterMs: READ_OVERLAP_AFTER_MS,
    loadBatch: async (_key, ids) => {
      const { rows } = await sql<{ id: number; value: string }>`
        select id, value from setting where id = any(${ids}::integer[])`.execute(db);
      const found = new Map(rows.map(({ id, value }) => [id, value]));
      return ids.map((id) => found.get(id));
    },
  });
}

/** @returns the reads that were done in the time */
async function readFor(loader: BatchLoader<number, string | undefined>): Promise<number> {
  const endsAt = performance.now() + SECONDS * 1_000;
  let reads = 0;
  const caller = async (first: number) => {
    for (let id = first; performance.now() < endsAt; id = (id + CALLS_AT_ONCE) % ROWS) {
      if ((await loader.load('settings', id + 1)) === undefined) throw new Error(`row ${id + 1} is missing`);
      reads += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, (_, n) => caller(n)));
  return reads;
}
