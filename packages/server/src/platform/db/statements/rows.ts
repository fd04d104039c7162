import { type RawBuilder, type Selectable, sql } from 'kysely';
import { invariant } from '../../fail.ts';
import type { Tables, Tx } from '../db.ts';
import { deferred, deferredText } from './statement.ts';

/** The database's name of a type; a test compares them with the schema. */
export type ColumnType = 'uuid' | 'text' | 'bigint' | 'integer' | 'boolean' | 'jsonb';

/** Tables whose rows belong to a merchant. */
type TenantTable = {
  [T in keyof Tables]: Tables[T] extends { merchant_id: unknown } ? T : never;
}[keyof Tables];
interface OfMerchant {
  merchant_id: string;
}
type Row<T extends TenantTable> = OfMerchant & Selectable<Tables[T]>;
type Column<T extends TenantTable> = keyof Selectable<Tables[T]> & string;

/** The types in PostgreSQL that can hold a value. */
type TypeOf<Value> = [NonNullable<Value>] extends [boolean]
  ? 'boolean'
  : [NonNullable<Value>] extends [string]
    ? 'uuid' | 'text'
    : [NonNullable<Value>] extends [bigint | number]
      ? 'bigint' | 'integer'
      : 'jsonb';

/** All columns of a table, by name, for prepared statements. */
export interface Columns<T extends TenantTable> {
  readonly table: T;
  readonly types: Readonly<Record<Column<T>, ColumnType>>;
  /** The list for `select …`. */
  readonly list: RawBuilder<unknown>;
  /** The text of `insertRows`: the merchant, then an array for each other column. */
  readonly insertText: string;
}

/**
 * Names all columns of a table with their types. A missing column or a wrong type is a type error.
 *
 * @example const NOTE = columnsOf('note', { merchant_id: 'uuid', note_id: 'uuid', body: 'text' });
 */
export function columnsOf<T extends TenantTable>(
  table: T,
  types: { readonly [C in Column<T>]: TypeOf<Row<T>[C]> },
): Columns<T> {
  const list = sql.raw(Object.keys(types).map(quoted).join(', '));
  return { table, types, list, insertText: insertTextOf(table, types) };
}

function insertTextOf(table: string, types: Readonly<Record<string, ColumnType>>): string {
  const names = namesOf(types);
  const arrays = names.map((name, i) => `$${i + 2}::${types[name]}[]`);
  return `insert into ${quoted(table)} (merchant_id, ${names.map(quoted).join(', ')})
    select $1::uuid, r.* from unnest(${arrays.join(', ')}) as r`;
}

/**
 * Inserts rows of one merchant in one deferred statement: its result is not awaited. If it fails, the next statement of
 * the transaction fails.
 *
 * @param rows with all columns, values in the form in which they are read (JSON as objects)
 */
export async function insertRows<T extends TenantTable>(
  tx: Tx,
  columns: Columns<T>,
  rows: readonly Row<T>[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const arrays = arraysOf(columns, namesOf(columns.types), rows);
  await deferredText(columns.insertText, [merchantOf(rows), ...arrays.map(({ values }) => values)]).execute(
    tx,
  );
}

/**
 * Updates rows of one merchant in one deferred statement, as `insertRows`. The rows are found by the merchant and
 * `keys`; the caller holds their locks.
 *
 * @param rows all with the same columns: the keys and the new values. No two have the same keys
 * @example await updateRows(tx, NOTE, [{ merchant_id, note_id, body: 'new' }], ['note_id']);
 */
export async function updateRows<T extends TenantTable, Key extends Column<T>>(
  tx: Tx,
  columns: Columns<T>,
  rows: readonly (OfMerchant & Pick<Row<T>, Key> & Partial<Row<T>>)[],
  keys: readonly Key[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const names = namesOf(first);
  const changed = names.filter((name) => !keys.some((key) => key === name));
  const sets = changed.map((name) => `${quoted(name)} = v.${quoted(name)}`).join(', ');
  const meets = keys.map((name) => `t.${quoted(name)} = v.${quoted(name)}`).join(' and ');
  const arrays = arraysOf(columns, names, rows).map(({ type, values }) => sql`${values}::${sql.raw(type)}[]`);
  await deferred`
    update ${sql.table(columns.table)} as t set ${sql.raw(sets)}
    from unnest(${sql.join(arrays)}) as v (${listOf(names)})
    where t.merchant_id = ${merchantOf(rows)} and ${sql.raw(meets)}`.execute(tx);
}

type ListColumn<Row> = readonly [
  type: ColumnType | 'smallint' | 'numeric',
  value: (row: Row, index: number) => string | number | bigint | boolean | null,
];

/**
 * A list of this process as a table of a statement, for `from` and `join`.
 *
 * @param columns by name: the database's type, and the value of a row. Objects are `text` of JSON, to be cast
 * @example sql`update note n set body = v.body
 *   from ${listed('v', notes, { note_id: ['uuid', (n) => n.id], body: ['text', (n) => n.body] })}
 *   where n.note_id = v.note_id`
 */
export function listed<Row>(
  alias: string,
  rows: readonly Row[],
  columns: Readonly<Record<string, ListColumn<Row>>>,
): RawBuilder<unknown> {
  const arrays = Object.values(columns).map(
    ([type, value]) => sql`${rows.map((row, i) => value(row, i))}::${sql.raw(type)}[]`,
  );
  return sql`unnest(${sql.join(arrays)}) as ${sql.raw(alias)} (${listOf(Object.keys(columns))})`;
}

/** All columns but the merchant's, which is the same for all rows. */
const namesOf = (row: object) => Object.keys(row).filter((name) => name !== 'merchant_id');

function merchantOf(rows: readonly OfMerchant[]): string | undefined {
  const [first] = rows;
  invariant(
    rows.every((row) => row.merchant_id === first?.merchant_id),
    'rows that are written together belong to one merchant',
  );
  return first?.merchant_id;
}

/** One array per column, for `unnest`. */
function arraysOf(
  { table, types }: { table: string; types: Readonly<Record<string, ColumnType>> },
  names: readonly string[],
  rows: readonly object[],
): { type: ColumnType; values: readonly unknown[] }[] {
  const valuesOf = rows.map((row) => new Map<string, unknown>(Object.entries(row)));
  return names.map((name) => {
    const type = types[name];
    invariant(type !== undefined, `${table} has no column ${name}`);
    const values = valuesOf.map((row) => {
      const value = row.get(name);
      invariant(value !== undefined, `a row of ${table} names no ${name}`);
      return type === 'jsonb' && value !== null ? JSON.stringify(value) : value;
    });
    return { type, values };
  });
}

const listOf = (names: readonly string[]) => sql.raw(names.map(quoted).join(', '));
const quoted = (name: string) => `"${name}"`;
