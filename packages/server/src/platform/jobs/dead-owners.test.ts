import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openWorkbench, type Workbench } from '../../../../../test/jobs/workbench.ts';
import { openSession } from '../db/db.ts';
import { DeadOwners } from './dead-owners.ts';
import { LOCK_CLASS } from './presence.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.clear());
afterAll(() => bench.close());

const dead = async (owners: DeadOwners) =>
  (await owners.listDead(bench.db, 1, bench.clock.nowMs())).toSorted((a, b) => a - b);
const leaseTo = (owner: number, kind: string) =>
  sql`update job set lease_owner = ${owner}, lease_until_ms = ${2 ** 50} where kind = ${kind}`.execute(
    bench.db,
  );

test('a worker with a lease and without a lock is dead, however it was found, until its leases are gone', async () => {
  await bench.add({ kind: 'a' }, { kind: 'b' }, { kind: 'c' });
  const owners = new DeadOwners();
  const session = await openSession(bench.url);
  await session.query('select pg_advisory_lock($1, 2)', [LOCK_CLASS]);
  await leaseTo(1, 'a');
  await leaseTo(2, 'b');
  // Came and went before anybody looked.
  await leaseTo(3, 'c');
  expect(await dead(owners)).toEqual([3]);
  await session.end();
  await expect.poll(() => dead(owners)).toEqual([2, 3]);
  // Another one draws the number.
  const second = await openSession(bench.url);
  await second.query('select pg_advisory_lock($1, 2)', [LOCK_CLASS]);
  expect(await dead(owners)).toEqual([3]);
  await leaseTo(1, 'c');
  // After a read of more than 20 ms, as on a busy machine, the next one comes 5 s later.
  await expect.poll(() => dead(owners), { timeout: 15_000 }).toEqual([]);
  await second.end();
});
