import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { makeEvent, publisherOf } from './make-event.ts';
import { openStream } from './stream-reader.ts';

let service: TestService;
/** A second node: readers reconnect to the other one. */
let otherNode: string;

beforeAll(async () => {
  service = await startService({ poolSize: 20 });
  otherNode = await service.addNode();
});
afterAll(() => service.stop());

const WRITERS = 8;

/** A writer's changes: how long each transaction stays open after its event, and whether it is rolled back. */
const change = fc.record({ waitMs: fc.nat({ max: 25 }), rollBack: fc.nat({ max: 9 }).map((n) => n === 0) });
const plans = fc.record({
  writers: fc.array(fc.array(change, { maxLength: 25 }), { minLength: WRITERS, maxLength: WRITERS }),
  /** After how many events a reader disconnects each time. */
  readers: fc.array(fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 20 }), {
    minLength: 2,
    maxLength: 4,
  }),
});

/** Reads to the last event, disconnecting and reconnecting as given. @returns the ids in order of arrival */
async function follow(
  merchant: TestMerchant,
  hangUps: readonly number[],
  isOver: (seen: readonly string[]) => boolean,
): Promise<string[]> {
  const seen: string[] = [];
  let place = 'start';
  for (let turn = 0; !isOver(seen); turn++) {
    const most = hangUps[turn] ?? Number.POSITIVE_INFINITY;
    const node = turn % 2 === 0 ? service.baseUrl : otherNode;
    const stream = await openStream(node, merchant, '', { 'last-event-id': place });
    expect(stream.status).toBe(200);
    for (let count = 1; count <= most + 1 && !isOver(seen); count++) {
      const block = (await stream.blocks(count))[count - 1];
      // A block without an event says where it begins, or that all is well.
      if (block?.data !== undefined) seen.push(block.id ?? '');
      place = block?.id ?? place;
    }
    stream.close();
  }
  return seen;
}

test('eight concurrent writers, two publishers, disconnecting readers: each event once, in order of its number', async () => {
  const publishers = [publisherOf(service), publisherOf(service)];
  await fc.assert(
    fc.asyncProperty(plans, async ({ writers, readers }) => {
      const merchant = await service.createMerchant({ funds: 0n });
      let isWriting = true;
      const publishing = publishers.map(async (publish) => {
        for (let isLast = false; !isLast; ) {
          isLast = !isWriting;
          await publish(merchant);
        }
      });
      const writing = writers.map(async (changes) => {
        for (const one of changes) await makeEvent(service, merchant, one);
      });
      let expected: string[] | undefined;
      const reading = readers.map((hangUps) =>
        follow(merchant, hangUps, (seen) => expected !== undefined && seen.length >= expected.length),
      );
      await Promise.all(writing);
      isWriting = false;
      await Promise.all(publishing);
      // One more wakes every reader that waits for an event which will not come.
      const committed = writers.flat().filter(({ rollBack }) => !rollBack).length;
      expected = await numbered(merchant);
      expect(expected).toHaveLength(committed);
      await makeEvent(service, merchant);
      await publishers[0]?.(merchant);
      for (const seen of await Promise.all(reading)) expect(seen.slice(0, committed)).toEqual(expected);
    }),
    { numRuns: scaled(40, 3) },
  );
}, 600_000);

async function numbered({ merchantId }: TestMerchant): Promise<string[]> {
  const rows = await service.app.db
    .selectFrom('event')
    .select('event_id')
    .where('merchant_id', '=', merchantId)
    .orderBy('number')
    .execute();
  return rows.map((row) => encodeId('event', row.event_id));
}
