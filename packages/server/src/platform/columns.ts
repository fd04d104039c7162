import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tables } from './db.ts';

/** All columns of a table, by name: kept statements name them. One that is missing here is a type error. */
export class Columns<T extends keyof Tables> {
  readonly #names: (keyof Tables[T] & string)[];
  /** As in `select …` and `insert into table (…)`. */
  readonly list: RawBuilder<unknown>;

  constructor(names: Record<keyof Tables[T] & string, true>) {
    this.#names = Object.keys(names) as (keyof Tables[T] & string)[];
    this.list = sql.raw(this.#names.map((name) => `"${name}"`).join(', '));
  }

  /** A row, as in `values (…)`. */
  valuesOf(row: { [K in keyof Selectable<Tables[T]>]: unknown }): RawBuilder<unknown> {
    return sql.join(this.#names.map((name) => row[name as keyof typeof row]));
  }
}

/** What a statement sets, as in `set …`: its text is the same for the same names in the same order. */
export function assignments(change: object): RawBuilder<unknown> {
  return sql.join(Object.entries(change).map(([name, value]) => sql`${sql.ref(name)} = ${value}`));
}
