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

const manyMark = (column: string) => `/* many by (${column}) */`;

/**
 * Begins a kept statement that does for many what it does for one: each parameter that is an array has one place for each
 * of them. Where changes run side by side, those that ask the same of it are asked as one.
 *
 * @param column of its rows: it says whose they are by the first of the arrays, in which nothing is named twice
 */
export const many = (column: string) => sql.raw(`${MARK} ${manyMark(column)}`);

/** Begins the text of one that nobody waits for. @param column that is written once, by the first of the arrays; any by default */
export const unawaitedManyText = (column = '') => `${UNAWAITED_MARK} ${manyMark(column)}`;

export const unawaitedMany = (column?: string) => sql.raw(unawaitedManyText(column));

const MANY = /^(?:\/\* (?:kept|unawaited) \*\/ )+\/\* many by \((\w*)\) \*\//;
const columns = new Map<string, string | undefined>();

/** The column that a statement for many was given, empty if it was none; undefined of any other statement. */
export function manyBy(text: string): string | undefined {
  if (!text.startsWith(MARK)) return undefined;
  if (!columns.has(text)) columns.set(text, MANY.exec(text)?.[1]);
  return columns.get(text);
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
