import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateAll } from '../packages/server/src/app.ts';
import { INVOICE } from '../packages/server/src/invoices/decide/columns.ts';
import { PAYMENT_METHOD } from '../packages/server/src/payment-methods/columns.ts';
import {
  PAYMENT,
  PAYMENT_OPTION,
  PAYMENT_TRANSACTION,
} from '../packages/server/src/payments/reads/columns.ts';
import { SUBSCRIPTION } from '../packages/server/src/subscriptions/columns.ts';
import { describeSchema } from '../scripts/schema-text.ts';
import { createDatabase } from './database.ts';

/** Belong to no tenant: reference tables, wallets (sharded by sender), and what tells live merchants apart on a network. */
const NOT_OF_TENANTS: Record<string, string> = {
  'public.data_key': 'data_key_id',
  'public.risk_address': 'network',
  'public.chain_account': 'network',
  'public.gas_tank': 'network',
  'public.live_network': 'network',
  'public.deposit_owner': 'watch',
  'public.wallet': 'sender',
  'public.wallet_sequence': 'sender',
  // People sign in to the installation; what they may do is a row for each merchant.
  'public.console_user': 'user_id email',
  'public.console_link': 'digest',
  'public.console_session': 'session_id digest',
  'public.console_recovery_code': 'user_id',
  'public.console_passkey': 'credential_id public_key',
  'public.console_challenge': 'digest',
  'public.console_attempt': 'subject',
};

let client: pg.Client;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  drop = () => database.drop();
  await migrateAll(database.url, undefined);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await drop();
});

test('migrations are numbered from 1, each number once', () => {
  const folder = path.resolve(import.meta.dirname, '../packages/server/migrations');
  const numbers = readdirSync(folder).flatMap((file) => /^(\d{4})_\w+\.sql$/.exec(file)?.[1] ?? []);
  expect(numbers.length).toBeGreaterThan(30);
  expect(numbers.toSorted()).toEqual(numbers.map((_, i) => String(i + 1).padStart(4, '0')));
});

async function names(query: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(query);
  return rows.map((row) => row.name);
}

const IN_OURS = `n.nspname in ('app', 'public', 'simchain') and c.relname not like 'kysely\\_%'`;
const TABLE = `from pg_class c join pg_namespace n on n.oid = c.relnamespace`;

test('the committed schema.sql is what the migrations make', async () => {
  const committed = await readFile(new URL('../packages/server/schema.sql', import.meta.url), 'utf8');
  // On a difference: node scripts/run.js scripts/schema.ts
  expect(committed).toBe(await describeSchema(client));
});

test.each([PAYMENT, PAYMENT_OPTION, PAYMENT_TRANSACTION, INVOICE, PAYMENT_METHOD, SUBSCRIPTION])(
  'prepared statements know the columns of $table and their types',
  async ({ table, types }) => {
    const { rows } = await client.query<{ name: string; type: string }>(
      'select column_name as name, data_type as type from information_schema.columns where table_name = $1',
      [table],
    );
    expect(Object.fromEntries(rows.map(({ name, type }) => [name, type]))).toEqual(types);
  },
);

test("every tenant's table has merchant_id first in its primary key and in every unique index", async () => {
  const { rows } = await client.query<{ name: string; index: string; first: string; not_null: boolean }>(`
    select n.nspname || '.' || c.relname as name, i.indexrelid::regclass::text as index, a.attname as first,
           a.attnotnull as not_null
    ${TABLE} join pg_index i on i.indrelid = c.oid and (i.indisunique or i.indisprimary)
    left join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
    where c.relkind in ('r', 'p') and ${IN_OURS}`);
  expect(rows.length).toBeGreaterThan(20);
  const wrong = rows.filter(
    ({ name, first, not_null }) =>
      !(NOT_OF_TENANTS[name] ?? 'merchant_id').split(' ').includes(first) || !not_null,
  );
  expect(wrong).toEqual([]);
});

test('every table has a primary key', async () => {
  const without = await names(`select n.nspname || '.' || c.relname as name ${TABLE}
    where c.relkind in ('r', 'p') and ${IN_OURS}
      and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`);
  expect(without).toEqual([]);
});

test('there are no triggers, rules, sequences, identity or stored generated columns', async () => {
  const found = await names(`
    select 'trigger ' || t.tgname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
      join pg_namespace n on n.oid = c.relnamespace where not t.tgisinternal and ${IN_OURS}
    union all
    select 'rule ' || r.rulename from pg_rewrite r join pg_class c on c.oid = r.ev_class
      join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p') and ${IN_OURS}
    union all
    select 'sequence ' || c.relname ${TABLE} where c.relkind = 'S' and ${IN_OURS}
    union all
    select 'column ' || c.relname || '.' || a.attname ${TABLE} join pg_attribute a on a.attrelid = c.oid
    where (a.attidentity <> '' or a.attgenerated <> '') and ${IN_OURS}`);
  expect(found).toEqual([]);
});

test('there are no unlogged tables, domains, exclusion or deferrable constraints', async () => {
  const found = await names(`
    select 'unlogged ' || c.relname as name ${TABLE} where c.relpersistence <> 'p' and ${IN_OURS}
    union all
    select 'domain ' || t.typname from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where t.typtype = 'd' and n.nspname in ('app', 'public', 'simchain')
    union all
    select 'constraint ' || k.conname from pg_constraint k join pg_class c on c.oid = k.conrelid
      join pg_namespace n on n.oid = c.relnamespace where (k.contype = 'x' or k.condeferrable) and ${IN_OURS}`);
  expect(found).toEqual([]);
});

test('every foreign key includes merchant_id, and none crosses from the simulated chain to the product', async () => {
  const wrong = await names(`
    select k.conname as name from pg_constraint k
    join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    join pg_class f on f.oid = k.confrelid
    where k.contype = 'f' and ${IN_OURS} and (f.relnamespace <> c.relnamespace or not exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attnum = any(k.conkey) and a.attname = 'merchant_id'))`);
  expect(wrong).toEqual([]);
});
