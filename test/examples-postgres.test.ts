import { type WebhookEvent, webhooks } from '@florin/sdk';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { postgresStore, TABLE } from '../examples/webhooks-postgres.ts';
import { createDatabase } from './database.ts';
import { scaled } from './scale.ts';

/*
 * The guard of webhooks on a real database: marks and effects are one transaction, also among several servers.
 */

let database: Awaited<ReturnType<typeof createDatabase>>;
/** Two servers of one merchant; the service's own database code, loaded beside, has pg read int8 as bigint. */
let pools: [pg.Pool, pg.Pool];

beforeAll(async () => {
  database = await createDatabase();
  pools = [0, 1].map(() => new pg.Pool({ connectionString: database.url, max: 4 })) as typeof pools;
  await pools[0].query(TABLE);
  await pools[0].query('create table copy (id text primary key, sequence bigint not null)');
  await pools[0].query('create table effect (event_id text not null)');
});
beforeEach(() => pools[0].query('truncate webhook_seen, copy, effect'));
afterAll(async () => {
  for (const pool of pools ?? []) await pool.end();
  await database?.drop();
});

const eventOf = (sequence: number, id = 'in_1') =>
  ({
    id: `evt_${id}_${sequence}`,
    object: 'event',
    type: 'invoice.paid',
    api_version: '2026-04-20',
    created: 1_776_643_200,
    store_id: 'store_1',
    livemode: false,
    sequence,
    data: { object: { id }, previous_attributes: null },
  }) as unknown as WebhookEvent;

async function effects(): Promise<string[]> {
  const { rows } = await pools[0].query<{ event_id: string }>(
    'select event_id from effect order by event_id',
  );
  return rows.map((row) => row.event_id);
}

const write = (event: WebhookEvent, client: pg.PoolClient) =>
  client.query('insert into effect (event_id) values ($1)', [event.id]);

test('a handler that fails leaves neither a mark nor what it wrote', async () => {
  let failing = true;
  const guard = webhooks.latestOnly(async (event, client: pg.PoolClient) => {
    await write(event, client);
    if (failing) throw new Error('failed');
  }, postgresStore(pools[0]));
  await expect(guard(eventOf(1))).rejects.toThrow('failed');
  expect(await effects()).toEqual([]);
  failing = false;
  expect(await guard(eventOf(1))).toBe('new');
  expect(await guard(eventOf(1))).toBe('duplicate');
  expect(await effects()).toEqual(['evt_in_1_1']);
});

test('a server that dies between the handler and the commit loses nothing', async () => {
  let dying = true;
  const guard = webhooks.everyOnce(async (event, client: pg.PoolClient) => {
    await write(event, client);
    if (!dying) return;
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = [rows[0]?.pid];
    await pools[1].query('select pg_terminate_backend($1)', pid);
    const left = async () =>
      (await pools[1].query('select from pg_stat_activity where pid = $1', pid)).rowCount;
    await expect.poll(left, { timeout: 30_000 }).toBe(0);
  }, postgresStore(pools[0]));
  await expect(guard(eventOf(1))).rejects.toThrow(/connection/i);
  expect(await effects()).toEqual([]);
  dying = false;
  expect(await guard(eventOf(1))).toBe('new');
  expect(await effects()).toEqual(['evt_in_1_1']);
});

test('a handler that continues after a failed statement has not succeeded', async () => {
  const guard = webhooks.everyOnce(async (event, client: pg.PoolClient) => {
    await write(event, client);
    await client.query('select 1 / 0').catch(() => {});
  }, postgresStore(pools[0]));
  await expect(guard(eventOf(1))).rejects.toThrow('rolled back');
  expect(await effects()).toEqual([]);
});

const delivery = fc.record({
  sequence: fc.integer({ min: 1, max: 6 }),
  id: fc.constantFrom('in_1', 'in_2'),
  server: fc.constantFrom<0 | 1>(0, 1),
  fails: fc.boolean(),
});

test('copies and disorder at two servers at once: each event takes effect once, and the copy is the last', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(delivery, { minLength: 1, maxLength: 24 }), async (sent) => {
      await pools[0].query('truncate webhook_seen, copy, effect');
      const failing = new Set<WebhookEvent>();
      const guards = pools.map((pool) => {
        const once = webhooks.everyOnce(
          async (event, client: pg.PoolClient) => {
            await write(event, client);
            if (failing.delete(event)) throw new Error('failed');
          },
          prefixed('once', postgresStore(pool)),
        );
        const latest = webhooks.latestOnly(
          async (event, client: pg.PoolClient) => {
            const { id } = event.data.object as { id: string };
            const { rows } = await client.query<{ before: string | null }>(
              `insert into copy values ($1, $2) on conflict (id) do update set sequence = excluded.sequence
             where copy.sequence < excluded.sequence returning sequence`,
              [id, event.sequence],
            );
            expect(rows, 'the copy went back in time').toHaveLength(1);
          },
          prefixed('latest', postgresStore(pool)),
        );
        return { once, latest };
      });
      await Promise.all(
        sent.map(async ({ sequence, id, server, fails }) => {
          const event = eventOf(sequence, id);
          if (fails) failing.add(event);
          const guard = guards[server];
          await guard?.latest(event);
          // What failed is sent again, as the service does.
          await guard?.once(event).catch(() => guard.once(event));
        }),
      );
      expect(await effects()).toEqual(
        [...new Set(sent.map((each) => eventOf(each.sequence, each.id).id))].sort(),
      );
      const { rows } = await pools[0].query<{ id: string; sequence: bigint }>(
        'select * from copy order by id',
      );
      const last = ['in_1', 'in_2'].flatMap((id) => {
        const sequences = sent.filter((each) => each.id === id).map((each) => each.sequence);
        return sequences.length === 0 ? [] : [{ id, sequence: BigInt(Math.max(...sequences)) }];
      });
      expect(rows).toEqual(last);
    }),
    { numRuns: scaled(200, 30) },
  );
});

/** Two handlers on one table: each with keys of its own. */
function prefixed(name: string, store: ReturnType<typeof postgresStore>): typeof store {
  return { ...store, advance: (client, key, sequence) => store.advance(client, `${name} ${key}`, sequence) };
}
