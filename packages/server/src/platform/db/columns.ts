import { CompiledQuery, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import type { Tables, Tx } from './db.ts';
import { unawaitedManyText } from './kept-plans.ts';

/** As the database names it: a test compares them. */
export type ColumnType = 'uuid' | 'text' | 'bigint' | 'integer' | 'boolean' | 'jsonb';

type Column<T extends keyof Tables> = keyof Tables[T] & string;
type Row<T extends keyof Tables> = { [K in keyof Selectable<Tables[T]>]: unknown } & { merchant_id: string };

/**
 * All columns of a table: kept statements name them. One that is missing here is a type error. What it writes is a
 * statement for many that nobody waits for, so that changes side by side write all their rows at once.
 */
export class Columns<T extends keyof Tables> {
  readonly table: T;
  readonly types: Readonly<Record<Column<T>, ColumnType>>;
  /** As in `select …`. */
  readonly list: RawBuilder<unknown>;
  readonly #texts = new Map<string, string>();

  constructor(table: T, types: Record<Column<T>, ColumnType>) {
    this.table = table;
    this.types = types;
    this.list = sql.raw(Object.keys(types).map(quoted).join(', '));
  }

  async insert(tx: Tx, row: Row<T>): Promise<void> {
    const names = this.#namesOf(this.types);
    const values = this.#valuesOf(row, names);
    const text = this.#textOf('insert', '', () => {
      const columns = names.map(quoted).join(', ');
      return `insert into ${quoted(this.table)} (merchant_id, ${columns})
        select $${names.length + 1}::uuid, r.* from unnest(${this.#placesOf(names)}) as r`;
    });
    await tx.executeQuery(CompiledQuery.raw(text, [...values, row.merchant_id]));
  }

  /** Changes the row of a key, whose lock the caller has. @param key of one column beside the merchant */
  async update(
    tx: Tx,
    { merchant_id: merchantId, ...key }: Partial<Row<T>> & { merchant_id: string },
    change: Updateable<Tables[T]>,
  ): Promise<void> {
    const [keys, changed] = [this.#namesOf(key), this.#namesOf(change)];
    const names = [...keys, ...changed];
    const values = this.#valuesOf({ ...key, ...change }, names);
    const text = this.#textOf(`update ${keys.join()} ${changed.join()}`, keys.join(), () => {
      const sets = changed.map((name) => `${quoted(name)} = v.${quoted(name)}`).join(', ');
      const meets = keys.map((name) => `t.${quoted(name)} = v.${quoted(name)}`).join(' and ');
      return `update ${quoted(this.table)} t set ${sets}
        from unnest(${this.#placesOf(names)}) as v (${names.map(quoted).join(', ')})
        where t.merchant_id = $${names.length + 1} and ${meets}`;
    });
    await tx.executeQuery(CompiledQuery.raw(text, [...values, merchantId]));
  }

  #namesOf(row: object): Column<T>[] {
    return Object.keys(row).filter((name) => name !== 'merchant_id') as Column<T>[];
  }

  #placesOf(names: readonly Column<T>[]): string {
    return names.map((name, i) => `$${i + 1}::${this.types[name]}[]`).join(', ');
  }

  #valuesOf(row: object, names: readonly Column<T>[]): unknown[][] {
    return names.map((name) => {
      const value: unknown = row[name as keyof typeof row];
      const isJson = this.types[name] === 'jsonb' && value !== null && typeof value !== 'string';
      return [isJson ? JSON.stringify(value) : value];
    });
  }

  #textOf(name: string, by: string, write: () => string): string {
    const text = this.#texts.get(name) ?? `${unawaitedManyText(by)} ${write()}`;
    this.#texts.set(name, text);
    return text;
  }
}

const quoted = (name: string) => `"${name}"`;
