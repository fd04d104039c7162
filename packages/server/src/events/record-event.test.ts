import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../test/database.ts';
import { newId } from '../platform/db/ids/index.ts';
import { connect, type Db, transact } from '../platform/db/index.ts';
import { decodeId } from '../tenancy/index.ts';
import { lockStream, numberEvents, readStream } from './publish-events.ts';
import { listEvents } from './queries.ts';
import { type Change, recordEvents } from './record-event.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Db;

beforeAll(async () => {
  database = await createDatabase();
  db = connect({ url: database.url, poolSize: 4 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

interface Owner {
  merchantId: string;
  storeId: string;
}
const newOwner = (): Owner => ({ merchantId: newId(), storeId: newId() });

function changeOf(owner: Owner, resource: string, type: Change['type'] = 'invoice.paid'): Change {
  const object = { id: resource };
  return {
    ...owner,
    livemode: false,
    type,
    resource,
    before: null,
    after: object,
    nowSeconds: 1_000,
    nowMs: 1_000_000,
  };
}

const record = (changes: readonly Change[]) => transact(db, (tx) => recordEvents(tx, changes));

async function publish({ merchantId, storeId }: Owner): Promise<void> {
  await transact(db, async (tx) => {
    const last = await lockStream(tx, merchantId, storeId);
    await numberEvents(tx, { merchantId, storeId, last }, 1_000);
  });
}

const resourceNames = fc.array(fc.constantFrom('sub_1', 'in_2', 'pay_3', 'a', 'Z'), {
  minLength: 1,
  maxLength: 12,
});

test('events of one change keep their order in the list and in the stream, whatever their resources', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(resourceNames, { minLength: 1, maxLength: 3 }), async (changes) => {
      const owner = newOwner();
      const ids: string[] = [];
      for (const resources of changes)
        ids.push(...(await record(resources.map((resource) => changeOf(owner, resource)))));
      const all = changes.flat();
      const listed = await listEvents(db, owner, { limit: 100 });
      expect(listed.map((row) => row.event_id).reverse()).toEqual(ids);
      await publish(owner);
      const stream = await readStream(db, { ...owner, after: 0n }, 100);
      expect(stream.map((row) => row.event_id)).toEqual(ids);
      // Each resource has a sequence of its own, and the body agrees with the row.
      const counts = new Map<string, number>();
      for (const [i, row] of stream.entries()) {
        const body = JSON.parse(row.body);
        const sequence = (counts.get(all[i] ?? '') ?? 0) + 1;
        counts.set(body.data.object.id, sequence);
        expect([body.data.object.id, body.sequence, decodeId('event', body.id)]).toEqual([
          all[i],
          sequence,
          row.event_id,
        ]);
      }
    }),
    { numRuns: 30 },
  );
});

test('two changes of the same resources, given in opposite orders, wait for each other and do not deadlock', async () => {
  const owner = newOwner();
  const names = Array.from({ length: 20 }, (_, i) => `in_${i}`);
  const rounds = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? names : names.toReversed()));
  let runs = 0;
  const counted = (changes: readonly Change[]) =>
    transact(db, async (tx) => {
      runs += 1;
      await recordEvents(tx, changes);
    });
  await Promise.all(rounds.map((round) => counted(round.map((name) => changeOf(owner, name)))));
  // A deadlock would have made one of them run again.
  expect(runs).toBe(rounds.length);
  const { rows, last } = await readAll(owner);
  expect(rows).toHaveLength(names.length * rounds.length);
  expect(new Set(last.values())).toEqual(new Set([BigInt(rounds.length)]));
});

async function readAll({ merchantId }: Owner) {
  const rows = await db
    .selectFrom('event')
    .select(['resource', 'sequence'])
    .where('merchant_id', '=', merchantId)
    .orderBy('sequence')
    .execute();
  return { rows, last: new Map(rows.map((row) => [row.resource, row.sequence])) };
}

test('a change without a visible difference records no event and takes no sequence', async () => {
  const owner = newOwner();
  const [first, second, third] = [1, 2, 3].map(() => changeOf(owner, 'sub_1'));
  if (first === undefined || second === undefined || third === undefined) throw new Error('three changes');
  const ids = await record([first, { ...second, before: second.after }, third]);
  expect(ids).toHaveLength(2);
  expect((await readAll(owner)).rows.map((row) => row.sequence)).toEqual([1n, 2n]);
});
