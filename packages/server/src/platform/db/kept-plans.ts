import { type CompiledQuery, sql } from 'kysely';
import { preparedName, type Statement } from './pipeline.ts';

const MARK = '/* kept */';

/** Begins a prepared statement, as `prepared` does. */
export const kept = sql.raw(MARK);

const UNAWAITED_MARK = `${MARK} /* unawaited */`;

/** Begins a deferred statement, as `deferred` does. */
export const unawaited = sql.raw(UNAWAITED_MARK);

export const isUnawaited = (text: string): boolean => text.startsWith(UNAWAITED_MARK);

/** How a query is sent, by the mark that its text begins with. */
export function markedStatement({ sql: text, parameters: values }: CompiledQuery): Statement {
  if (!text.startsWith(MARK)) return { text, values };
  return { name: preparedName(text), text, values, isDeferred: isUnawaited(text) };
}
