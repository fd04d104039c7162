import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../../../test/database.ts';
import { newId } from '../platform/db/ids/index.ts';
import { connect, type Db } from '../platform/db/index.ts';
import { migrate } from '../platform/db/migrations/index.ts';
import { type CountedRecord, recordCounted } from './queries.ts';

const merchantId = newId();
const endpointIds = [newId(), newId()].toSorted();
let db: Db;
let close: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  await migrate(database.url);
  db = connect({ url: database.url, poolSize: 4 });
  close = async () => {
    await db.destroy();
    await database.drop();
  };
  for (const endpoint_id of endpointIds) {
    const endpoint = { endpoint_id, url: 'https://a.example/', types: ['*' as const], created_at: 0 };
    await db
      .insertInto('webhook_endpoint')
      .values({ merchant_id: merchantId, store_id: newId(), ...endpoint })
      .execute();
  }
});
afterAll(() => close());

async function insertDelivery(endpointId: string): Promise<string> {
  const eventId = newId();
  await db
    .insertInto('delivery')
    .values({
      merchant_id: merchantId,
      event_id: eventId,
      endpoint_id: endpointId,
      delivery_id: newId(),
      store_id: newId(),
      event_type: 'payout_batch.updated',
      number: 1,
      status: 'pending',
      due_at: 0,
      event_created_at: 0,
      created_at: 0,
    })
    .execute();
  return eventId;
}

async function healthOf(endpointId: string) {
  const row = await db
    .selectFrom('webhook_endpoint')
    .select(['failures', 'failing_since_ms'])
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirstOrThrow();
  return { failures: row.failures, failingSinceMs: row.failing_since_ms && Number(row.failing_since_ms) };
}

function recordOf(endpointId: string, eventId: string, health: CountedRecord['health']): CountedRecord {
  const status = health === 'failed' ? ('pending' as const) : ('delivered' as const);
  const next = { status, seriesAttempts: 1, dueAt: 120 };
  return { endpointId, eventId, seriesBefore: 0, next, attempt: '{}', health, beganMs: 0 };
}

test('attempts written together change the health as if written one by one; written again after a lost answer, they change nothing', async () => {
  const kinds = fc.constantFrom('none', 'acknowledged', 'failed') as fc.Arbitrary<CountedRecord['health']>;
  const batches = fc.array(fc.tuple(fc.constantFrom(0, 1), kinds), { minLength: 1, maxLength: 12 });
  let nowMs = 1_000;
  await fc.assert(
    fc.asyncProperty(batches, async (list) => {
      const expected = await Promise.all(endpointIds.map(healthOf));
      const records: CountedRecord[] = [];
      for (const [which, health] of list) {
        const endpointId = endpointIds[which] ?? '';
        nowMs += 1;
        records.push({ ...recordOf(endpointId, await insertDelivery(endpointId), health), beganMs: nowMs });
        const { failures = 0, failingSinceMs = null } = expected[which] ?? {};
        if (health === 'acknowledged') expected[which] = { failures: 0, failingSinceMs: null };
        if (health === 'failed')
          expected[which] = { failures: failures + 1, failingSinceMs: failingSinceMs ?? nowMs };
      }
      for (const written of [await recordCounted(db, merchantId, records), undefined]) {
        const answer = written ?? (await recordCounted(db, merchantId, records));
        expect(await Promise.all(endpointIds.map(healthOf))).toEqual(expected);
        for (const [which, endpointId] of endpointIds.entries())
          if (answer.has(endpointId)) expect(answer.get(endpointId)).toEqual(expected[which]);
      }
    }),
    { numRuns: 40 },
  );
});

test('an attempt that two workers record counts once for the endpoint', async () => {
  const [endpointId = ''] = endpointIds;
  const eventId = await insertDelivery(endpointId);
  const failed = recordOf(endpointId, eventId, 'failed');
  const before = await healthOf(endpointId);
  await Promise.all([recordCounted(db, merchantId, [failed]), recordCounted(db, merchantId, [failed])]);
  expect((await healthOf(endpointId)).failures).toBe(before.failures + 1);
});
