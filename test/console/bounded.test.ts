import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEntries } from '../../packages/server/src/audit/index.ts';
import { listPaidAlike } from '../../packages/server/src/payouts/approvals/index.ts';
import { newId } from '../../packages/server/src/platform/db/ids/index.ts';
import { type Tx, transact } from '../../packages/server/src/platform/db/index.ts';
import { listFailing } from '../../packages/server/src/platform/jobs/failing/index.ts';
import type { Platform } from '../../packages/server/src/platform/platform.ts';
import { lookOf } from '../../packages/server/src/transfers/recipients/index.ts';
import { openPlatform } from '../platform.ts';

const ROWS = 20_000;
let platform: Platform;
let close: () => Promise<void>;
const merchantId = newId();

beforeAll(async () => {
  ({ platform, close } = await openPlatform());
});
afterAll(() => close());

/** What a reading gives, and how many rows of the table PostgreSQL has touched for it. */
async function counted<T>(
  table: string,
  read: (tx: Tx) => Promise<T>,
): Promise<{ found: T; touched: number }> {
  await sql`analyze ${sql.table(table)}`.execute(platform.db);
  return await transact(platform.db, async (tx) => {
    // PostgreSQL counts what its session has not reported yet, so that a reading before this one may be in it.
    const before = await touchedIn(tx, table);
    const found = await read(tx);
    return { found, touched: (await touchedIn(tx, table)) - before };
  });
}

async function touchedIn(tx: Tx, table: string): Promise<number> {
  const { rows } = await sql<{ touched: string }>`
    select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as touched
    from pg_stat_xact_user_tables where relname = ${table}`.execute(tx);
  return Number(rows[0]?.touched);
}

test('the audit log is filtered along an index: what is rare or long ago costs what is found', async () => {
  await sql`
    insert into audit_entry (merchant_id, number, at_ms, actor_kind, actor, origin, action, phase, details,
      previous_hash, hash, seal)
    select ${merchantId}::uuid, n, n * 1000, 'user', case when n <= 3 then 'usr_rare' else 'usr_' || n % 3 end, 'desk',
           case when n in (4, 5) then 'keys.revoke' else 'settings.set' end, 'done', '{}', '', '', ''
    from generate_series(1, ${ROWS}::integer) as n`.execute(platform.db);
  const read = (filter: object) =>
    counted('audit_entry', async (tx) =>
      (await listEntries(tx, merchantId, { limit: 20, ...filter })).map(({ number }) => number),
    );
  const rare = [
    [{ actor: 'usr_rare' }, [3, 2, 1]],
    [{ action: 'keys.revoke' }, [5, 4]],
    [{ actor: 'usr_rare', action: 'keys.revoke' }, []],
    [{ actor: 'usr_nobody' }, []],
    [{ from: 10, end: 13 }, [12, 11, 10]],
    [{ actor: 'usr_1', before: 8 }, [7, 4]],
  ] as const;
  for (const [filter, numbers] of rare) {
    const { found, touched } = await read(filter);
    expect([filter, found]).toEqual([filter, numbers]);
    expect(touched, JSON.stringify(filter)).toBeLessThan(100);
  }
});

test('jobs that fail are found among many that do not', async () => {
  await sql`
    insert into job (merchant_id, job_id, kind, unique_key, due_at_ms, attempts, last_error)
    select ${merchantId}::uuid, gen_random_uuid(), 'test.bounded', n::text, 0, case when n <= 3 then n else 0 end, 'x'
    from generate_series(1, ${ROWS}::integer) as n`.execute(platform.db);
  const { found, touched } = await counted('job', (tx) => listFailing(tx, { limit: 10 }));
  expect(found.map(({ attempts }) => attempts)).toEqual([3, 2, 1]);
  expect(touched).toBeLessThan(100);
  // A page in the midst of many that failed as often.
  await sql`update job set attempts = 2 where kind = 'test.bounded' and unique_key::integer > 3`.execute(
    platform.db,
  );
  await sql`vacuum analyze job`.execute(platform.db);
  const { rows } = await sql<{ job_id: string }>`
    select job_id from job where attempts = 2 order by job_id offset ${ROWS / 2} limit 4`.execute(
    platform.db,
  );
  const [after = '', ...behind] = rows.map(({ job_id }) => job_id);
  const next = await counted('job', (tx) =>
    listFailing(tx, { limit: 3, after: { attempts: 2, jobId: after } }),
  );
  expect(next.found.map(({ jobId }) => jobId)).toEqual(behind);
  expect(next.touched).toBeLessThan(100);
});

test('who was paid very often is looked up without reading all of it, and approvals are found all the same', async () => {
  const genuine = `0x5aaeb6${'0'.repeat(30)}beae`;
  const imitation = `0x5aaeb6${'1'.repeat(30)}beae`;
  const network = 'erc20';
  const pay = async (address: string, items: number, required: number) => {
    const [batchId, digest] = [newId(), required > 0 ? Buffer.alloc(32) : null];
    await sql`
      insert into payout_batch (merchant_id, batch_id, store_id, key_id, idempotency_key, currency, network, status,
        total_count, valid_count, invalid_count, requested_amount, total_amount, service_fee_amount, debit_amount,
        validation_errors, items_digest, required_approvals, created_at)
      values (${merchantId}, ${batchId}, ${newId()}, ${newId()}, 'x', 'USDT', 'erc20', 'completed', ${items}, ${items}, 0,
        1, 1, 0, 1, '[]', ${digest}, ${required}, 0)`.execute(platform.db);
    await sql`
      insert into payout_item (merchant_id, batch_id, index, item_id, network, address, amount, service_fee_amount,
        status, validation_errors, created_at, completed_at)
      select ${merchantId}::uuid, ${batchId}::uuid, n, gen_random_uuid(), 'erc20', ${address}, 1, 0, 'succeeded', '[]', 0, 0
      from generate_series(1, ${items}::integer) as n`.execute(platform.db);
  };
  await pay(imitation, ROWS, 0);
  await pay(genuine, 1, 2);
  await pay(`0x${'7'.repeat(40)}`, 5, 2);
  const looks = [lookOf(genuine)];
  const { found, touched } = await counted('payout_item', (tx) =>
    listPaidAlike(tx, merchantId, network, looks),
  );
  expect(found).toEqual([
    { address: genuine, isApproved: true },
    { address: imitation, isApproved: false },
  ]);
  expect(touched).toBeLessThan(1_500);
  expect(await listPaidAlike(platform.db, newId(), network, looks)).toEqual([]);
});
