import { type RawBuilder, sql } from 'kysely';
import type { Tables, Tx } from '../db.ts';

/** A row that adds amounts up, named by all columns of its key. */
export interface Counter {
  table: keyof Tables;
  key: Readonly<Record<string, string | number | bigint>>;
}

const namesOf = (key: Counter['key']): RawBuilder<unknown> =>
  sql.join(Object.keys(key).map((name) => sql.ref(name)));

/** Adds an amount to a counter unless it would exceed the limit. Concurrent callers wait for the row. @returns false: it would */
export async function addWithin(
  tx: Tx,
  { table, key }: Counter,
  amount: bigint,
  limit: bigint,
): Promise<boolean> {
  if (amount > limit) return false;
  const { numAffectedRows } = await sql`
    insert into ${sql.table(table)} as c (${namesOf(key)}, amount) values (${sql.join(Object.values(key))}, ${amount})
    on conflict (${namesOf(key)}) do update set amount = c.amount + excluded.amount
      where c.amount + excluded.amount <= ${limit}`.execute(tx);
  return numAffectedRows === 1n;
}

/** Takes back what `addWithin` added. */
export async function takeBack(tx: Tx, { table, key }: Counter, amount: bigint): Promise<void> {
  const conditions = Object.entries(key).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
  await sql`
    update ${sql.table(table)} set amount = amount - ${amount} where ${sql.join(conditions, sql` and `)}`.execute(
    tx,
  );
}
