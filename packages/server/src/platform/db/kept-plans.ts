import { type CompiledQuery, sql } from 'kysely';
import { preparedName, type Statement } from './pipeline.ts';

const MARK = '/* kept */';

/** Begins a prepared statement, as `prepared` does. */
export const kept = sql.raw(MARK);

const UNAWAITED_MARK = `${MARK} /* unawaited */`;

/** Begins a deferred statement, as `deferred` does. */
export const unawaited = sql.raw(UNAWAITED_MARK);

const manyMark = (keys: string) => `/* many by (${keys}) */`;

/**
 * Begins a prepared read that asks for many what it asks for one: with the arrays of two askings put together it finds
 * what both of them find, so it has no limit and sums up nothing over all its rows. Where changes run side by side,
 * askings that are equal but for their arrays go as one.
 *
 * @param column of its rows that says whose they are: it holds what the first of the arrays names, as the same value
 */
export const many = (column: string) => sql.raw(`${MARK} ${manyMark(column)}`);

/**
 * Begins the text of a deferred write like that.
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

/** How a query is sent, by the mark that its text begins with. */
export function markedStatement({ sql: text, parameters: values }: CompiledQuery): Statement {
  if (!text.startsWith(MARK)) return { text, values };
  return { name: preparedName(text), text, values, isDeferred: isUnawaited(text) };
}
