import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { MERCHANT, openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import { openSession } from '../db/db.ts';
import { newId } from '../db/ids/ids.ts';
import { transact } from '../db/transact.ts';
import { enqueue, jobHealth } from './index.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.clear());
afterAll(() => bench.close());

test('a job is written with its payload and whether it follows the clock', async () => {
  await bench.add({ kind: 'a', dueAtMs: 5, followsClock: true, payload: { text: 'ä"\\', list: [1, null] } });
  const [row] = await bench.rows();
  expect(row).toMatchObject({
    merchant_id: MERCHANT,
    kind: 'a',
    due_at_ms: 5n,
    follows_clock: true,
    payload: { text: 'ä"\\', list: [1, null] },
    attempts: 0,
    trace: null,
    revision: 0,
    fence: 0n,
    lease_until_ms: null,
  });
  expect(row?.unique_key).toBe(row?.job_id);
});

test('a job that does the work of another one continues the trace that it is given', async () => {
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await bench.add({ kind: 'a', uniqueKey: '1', trace }, { kind: 'a', uniqueKey: '2', trace: null });
  const rows = await bench.rows();
  expect(new Map(rows.map((row) => [row.unique_key, row.trace]))).toEqual(
    new Map([
      ['1', trace],
      ['2', null],
    ]),
  );
});

test('the same key again keeps one job: the earlier time, the newest payload, one revision more', async () => {
  await bench.add({ kind: 'a', uniqueKey: 'k', dueAtMs: 500, payload: { n: 1 } });
  await bench.add({ kind: 'a', uniqueKey: 'k', dueAtMs: 900, payload: { n: 2 } });
  expect(await bench.rows()).toMatchObject([{ due_at_ms: 500n, revision: 1, payload: { n: 2 } }]);
  await bench.add({ kind: 'a', uniqueKey: 'k', dueAtMs: 100, payload: { n: 3 } });
  expect(await bench.rows()).toMatchObject([{ due_at_ms: 100n, revision: 2, payload: { n: 3 } }]);
});

test('keys are separate for each merchant and kind; jobs without a key never merge', async () => {
  const other = newId();
  await bench.add(
    { kind: 'a', uniqueKey: 'k' },
    { kind: 'b', uniqueKey: 'k' },
    { kind: 'a', uniqueKey: 'k', merchantId: other },
    { kind: 'a' },
    { kind: 'a' },
  );
  expect(await bench.rows()).toHaveLength(5);
});

test('one call may name a key twice', async () => {
  await bench.add({ kind: 'a', uniqueKey: 'k', dueAtMs: 7 }, { kind: 'a', uniqueKey: 'k', dueAtMs: 9 });
  expect(await bench.rows()).toMatchObject([{ due_at_ms: 7n }]);
});

test('enqueuing nothing does not fail', async () => {
  await bench.add();
  expect(await bench.rows()).toEqual([]);
});

test('a rollback leaves no job and notifies no worker; a commit notifies once for each merchant and kind', async () => {
  const session = await openSession(bench.url);
  const calls: (string | undefined)[] = [];
  session.on('notification', (message) => calls.push(message.payload));
  await session.query('listen florin_job');
  const spec = { merchantId: MERCHANT, kind: 'a', dueAtMs: 1 };
  const failing = transact(bench.db, async (tx) => {
    await enqueue(tx, [spec]);
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  expect(await bench.rows()).toEqual([]);
  await bench.add(spec, { ...spec, dueAtMs: 2 });
  await expect.poll(() => calls.length).toBeGreaterThan(0);
  // Notifications keep their order: one of the first transaction would have arrived before this one.
  expect(calls).toEqual([expect.stringMatching(new RegExp(`^${MERCHANT} 1 \\d+ a$`))]);
  await session.end();
});

test('transactions that enqueue the same keys in opposite order both commit', async () => {
  const specs = Array.from({ length: 50 }, (_, n) => ({
    merchantId: MERCHANT,
    kind: 'a',
    uniqueKey: `k${n}`,
    dueAtMs: 1,
  }));
  const rounds = Array.from({ length: 6 }, (_, n) =>
    transact(bench.db, (tx) => enqueue(tx, n % 2 === 0 ? specs : specs.toReversed())),
  );
  await Promise.all(rounds);
  const rows = await bench.rows();
  expect(rows).toHaveLength(50);
  expect(rows.every((row) => row.revision === 5)).toBe(true);
});

test('health counts waiting, late and failing jobs by kind', async () => {
  const nowMs = 1_000_000;
  await bench.add(
    { kind: 'a', dueAtMs: nowMs - 5_001 },
    { kind: 'a', dueAtMs: nowMs - 4_000 },
    { kind: 'a', dueAtMs: nowMs + 9 },
    { kind: 'b', uniqueKey: 'leased', dueAtMs: nowMs - 60_000 },
  );
  await sql`update job set lease_until_ms = ${nowMs + 1}, lease_owner = 1, attempts = 3 where kind = 'b'`.execute(
    bench.db,
  );
  expect(await jobHealth(bench.db, nowMs)).toEqual([
    { kind: 'a', waiting: 3, late: 1, oldestDueMs: nowMs - 5_001, failing: 0 },
    { kind: 'b', waiting: 1, late: 0, oldestDueMs: undefined, failing: 1 },
  ]);
  // A lease that ran out protects nobody.
  expect((await jobHealth(bench.db, nowMs + 2))[1]).toMatchObject({ late: 1, oldestDueMs: nowMs - 60_000 });
});
