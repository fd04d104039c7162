import { sql } from 'kysely';
import pg from 'pg';

const MARK = '/* kept */';
const names = new Map<string, string>();

/**
 * Begins a statement of the hot path: each connection parses and plans it once and runs it from then on. Only for
 * statements whose text never changes, which name their columns (a `*` would break in running processes when a
 * migration adds one), and whose one good plan is an index look-up or an insert, however full the tables are.
 */
export const kept = sql.raw(MARK);

const UNAWAITED_MARK = `${MARK} /* unawaited */`;

/**
 * Begins a kept statement whose answer nobody waits for: it is sent with the next one of its transaction, and where it
 * fails that one fails. It answers at once, with no rows and no counts.
 */
export const unawaited = sql.raw(UNAWAITED_MARK);

const manyMark = (keys: string) => `/* many by (${keys}) */`;

/**
 * Begins a kept read that asks for many what it asks for one: with the arrays of two askings put together it finds what
 * both of them find, so it has no limit and sums up nothing over all its rows. Where changes run side by side, askings
 * that are equal but for their arrays go as one.
 *
 * @param column of its rows that says whose they are: it holds what the first of the arrays names, as the same value
 */
export const many = (column: string) => sql.raw(`${MARK} ${manyMark(column)}`);

/**
 * Begins the text of a write like that, which nobody waits for.
 *
 * @param keys what the first of the arrays holds, where no statement may name one twice: askings that share one stay apart
 */
export const unawaitedManyText = (keys = '') => `${UNAWAITED_MARK} ${manyMark(keys)}`;

export const unawaitedMany = (keys?: string) => sql.raw(unawaitedManyText(keys));

const MANY = /^(?:\/\* (?:kept|unawaited) \*\/ )+\/\* many by \((\w*)\) \*\//;
const marks = new Map<string, string | undefined>();

/** What a statement for many is by, empty where it may name anything twice; undefined of any other statement. */
export function manyBy(text: string): string | undefined {
  if (!text.startsWith(MARK)) return undefined;
  if (!marks.has(text)) marks.set(text, MANY.exec(text)?.[1]);
  return marks.get(text);
}

export const isUnawaited = (text: string): boolean => text.startsWith(UNAWAITED_MARK);

type Query = (...args: unknown[]) => unknown;

function nameOf(text: string): string {
  const name = names.get(text) ?? `kept_${names.size}`;
  names.set(text, name);
  return name;
}

/** A statement as the driver is told it: one that begins with `kept` has a name, which is how it is kept. */
export function keptConfig(text: string, values: unknown[]): pg.QueryConfig {
  return text.startsWith(MARK) ? { name: nameOf(text), text, values } : { text, values };
}

/** Sends statements that begin with `kept` as named ones. */
export function keepPlans(client: pg.ClientBase): void {
  const query: Query = (...args) => (pg.Client.prototype.query as Query).apply(client, args);
  const replacement: Query = (text, values, ...rest) =>
    typeof text === 'string' && Array.isArray(values)
      ? query(keptConfig(text, values), ...rest)
      : query(text, values, ...rest);
  Object.assign(client, { query: replacement });
}
