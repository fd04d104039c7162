import { isUnawaited, manyBy } from './kept-plans.ts';
import { preparedName, type Statement, type StatementResult } from './pipeline.ts';

/** A statement, and which of several changes asks it. */
export interface AskedBy extends Statement {
  change: object;
}

export interface Folded {
  statements: Statement[];
  /** @param told what came of each of the statements. @returns what came of each that was asked, in their order */
  tellEach: (told: readonly StatementResult[]) => StatementResult[];
}

/** Equal statements for many that became one, or one of any other kind. */
interface Fold {
  text: string;
  values: unknown[];
  parts: AskedBy[];
  /** Whose is what stands in the first of its arrays, where that may name nothing twice. */
  owners: Map<unknown, AskedBy>;
}

/**
 * The plan of one is no plan of a hundred: what is put together is kept under a name of its own, so that what PostgreSQL
 * learns of the one is not told of the other.
 */
const OF_SEVERAL = '/* of several */';

/**
 * Makes one of the statements for many that are equal in all but their arrays. Those of one change keep their order; those
 * of different ones have none.
 */
export function foldAsked(asked: readonly AskedBy[]): Folded {
  const folds: Fold[] = [];
  const lastOf = new Map<object, number>();
  const indexes = asked.map((one) => {
    const first = (lastOf.get(one.change) ?? -1) + 1;
    const found = isForMany(one) ? folds.findIndex((fold, i) => i >= first && takes(fold, one)) : -1;
    const index = found < 0 ? folds.push(emptyFold(one)) - 1 : found;
    add(folds[index] as Fold, one);
    lastOf.set(one.change, index);
    return index;
  });
  return {
    statements: folds.map(({ text, values, parts: [first, ...others] }) => {
      const whole = others.length === 0 ? text : `${text} ${OF_SEVERAL}`;
      const name = first?.name === undefined ? {} : { name: preparedName(whole) };
      const deferral = first?.isDeferred === undefined ? {} : { isDeferred: first.isDeferred };
      return { text: whole, values, ...name, ...deferral };
    }),
    tellEach: (told) => {
      const rowsOf = told.map(({ rows }, i) => share(rows, folds[i] as Fold));
      return asked.map((one, i) => {
        const whole = told[indexes[i] as number] as StatementResult;
        const rows = rowsOf[indexes[i] as number]?.get(one);
        return rows === undefined ? whole : { ...whole, rows };
      });
    },
  };
}

const isForMany = ({ text }: Statement) => manyBy(text) !== undefined;
const keysOf = ({ text, values }: Statement): readonly unknown[] =>
  manyBy(text) === '' ? [] : (values.find(Array.isArray) ?? []);

function emptyFold(one: Statement): Fold {
  const values = isForMany(one)
    ? one.values.map((value) => (Array.isArray(value) ? [] : value))
    : [...one.values];
  return { text: one.text, values, parts: [], owners: new Map() };
}

function takes(fold: Fold, one: Statement): boolean {
  if (fold.text !== one.text) return false;
  const isAlike = (value: unknown, i: number) =>
    Array.isArray(value) ? Array.isArray(fold.values[i]) : value === fold.values[i];
  return one.values.every(isAlike) && !keysOf(one).some((key) => fold.owners.has(key));
}

function add(fold: Fold, one: AskedBy): void {
  fold.parts.push(one);
  if (!isForMany(one)) return;
  for (const [i, value] of one.values.entries())
    if (Array.isArray(value)) (fold.values[i] as unknown[]).push(...value);
  for (const key of keysOf(one)) fold.owners.set(key, one);
}

/** @returns the rows of each part; empty where all are its only one's, or none are waited for */
function share(
  rows: StatementResult['rows'],
  { text, parts, owners }: Fold,
): Map<AskedBy, StatementResult['rows']> {
  const shares = new Map<AskedBy, StatementResult['rows']>();
  const column = manyBy(text);
  if (!column || isUnawaited(text) || parts.length === 1) return shares;
  for (const part of parts) shares.set(part, []);
  for (const row of rows) {
    const owner = owners.get(row[column]);
    if (owner === undefined) throw new Error(`nobody has asked for a row by its ${column}: ${text}`);
    shares.get(owner)?.push(row);
  }
  return shares;
}
