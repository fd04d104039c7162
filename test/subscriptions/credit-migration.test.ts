import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../packages/server/src/platform/db/ids/ids.ts';
import { migrate } from '../../packages/server/src/platform/db/migrations/migrate.ts';
import { createDatabase } from '../database.ts';

const MIGRATIONS = new URL('../../packages/server/migrations/', import.meta.url);
const OWN = '0019_credit_and_suspension.sql';

let database: Awaited<ReturnType<typeof createDatabase>>;
let client: pg.Client;
let before: string;

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('drop schema app cascade; drop schema public cascade; create schema public');
  before = join(tmpdir(), `florin-migrations-${newId()}`);
  await mkdir(before);
  for (const name of await readdir(MIGRATIONS))
    if (name.endsWith('.sql') && name < OWN) await cp(new URL(name, MIGRATIONS), join(before, name));
  await migrate(database.url, { folder: pathToFileURL(`${before}/`) });
});
afterAll(async () => {
  await client.end();
  await rm(before, { recursive: true });
  await database.drop();
});

const merchant = newId();

async function subscription(status: string, credit: number): Promise<string> {
  const id = newId();
  await client.query(
    `insert into subscription (merchant_id, subscription_id, store_id, customer_id, customer, currency, status, items,
       amount, interval, billing_cycle_anchor, page_token, created_at, credit_amount, current_period_start, current_period_end)
     values ($1, $2, $1, $1, 'c', 'USD', $3, '[]', 1000, 'month', 100, '', 100, $4, $5, $6)`,
    [merchant, id, status, credit, ...(status === 'incomplete' ? [null, null] : [100, 200])],
  );
  return id;
}

async function invoice(
  of: string,
  ...[reason, status, due, created]: [string, 'open' | 'paid', number, number]
) {
  await client.query(
    `insert into invoice (merchant_id, invoice_id, store_id, subscription_id, customer_id, customer, amount_due, currency,
       status, payment_status, billing_reason, interval, period_start, period_end, due_date, paid_at, created_at)
     values ($1, $2, $1, $3, $1, 'c', $4, 'USD', $5, $6, $7, 'month', $8, 200, $8, $9, $8)`,
    [
      merchant,
      newId(),
      of,
      due,
      status,
      status === 'paid' ? 'completed' : 'pending',
      reason,
      created,
      status === 'paid' ? created : null,
    ],
  );
}

async function found(id: string) {
  const { rows: invoices } = await client.query(
    `select credited_amount::int as credited, reduction_amount::int as reduction from invoice
     where subscription_id = $1 order by created_at`,
    [id],
  );
  const { rows: subscriptions } = await client.query(
    `select credit_amount::int as credit, current_period_start::int as start, current_period_end::int as "end"
     from subscription where subscription_id = $1`,
    [id],
  );
  return { ...subscriptions[0], invoices: invoices.map(({ credited, reduction }) => [credited, reduction]) };
}

test('credits that exist are taken off open changes, then of what was paid; the rest was never paid', async () => {
  const none = await subscription('active', 0);
  await invoice(none, 'subscription_create', 'paid', 1_000, 100);
  const unpaid = await subscription('active', 5_000);
  await invoice(unpaid, 'subscription_create', 'paid', 1_000, 100);
  await invoice(unpaid, 'subscription_update', 'open', 3_000, 110);
  const both = await subscription('active', 3_500);
  await invoice(both, 'subscription_create', 'paid', 1_000, 100);
  await invoice(both, 'subscription_update', 'paid', 2_000, 110);
  await invoice(both, 'subscription_update', 'open', 700, 120);
  await invoice(both, 'subscription_update', 'open', 500, 130);
  const incomplete = await subscription('incomplete', 0);
  await invoice(incomplete, 'subscription_create', 'open', 1_000, 150);
  expect(await migrate(database.url)).toContain('0019_credit_and_suspension');
  expect(await found(none)).toMatchObject({ credit: 0, invoices: [[0, 0]] });
  expect(await found(unpaid)).toMatchObject({
    credit: 1_000,
    invoices: [
      [1_000, 0],
      [0, 3_000],
    ],
  });
  expect(await found(both)).toMatchObject({
    credit: 2_300,
    invoices: [
      [300, 0],
      [2_000, 0],
      [0, 700],
      [0, 500],
    ],
  });
  expect(await found(incomplete)).toMatchObject({ start: 150, end: 200 });
});
