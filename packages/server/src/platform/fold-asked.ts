import { manyBy } from './kept-plans.ts';
import type { Asked, Told } from './shared-trips.ts';

/** A statement, and which of several changes asks it. */
export interface AskedBy extends Asked {
  change: object;
}

export interface Folded {
  statements: Asked[];
  /** @param told what came of each of the statements. @returns what came of each that was asked, in their order */
  tellEach: (told: readonly Told[]) => Told[];
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
 * Makes one of the statements for many that are equal in all but their arrays. Those of one change keep their order; those
 * of different ones have none.
 */
export function foldAsked(asked: readonly AskedBy[]): Folded {
  const folds: Fold[] = [];
  const placeOf = new Map<object, number>();
  const places = asked.map((one) => {
    const first = (placeOf.get(one.change) ?? -1) + 1;
    const found = folds.findIndex((fold, place) => place >= first && takes(fold, one));
    const place = found < 0 ? folds.push(emptyFold(one)) - 1 : found;
    add(folds[place] as Fold, one);
    placeOf.set(one.change, place);
    return place;
  });
  return {
    statements: folds.map(({ text, values }) => ({ text, values })),
    tellEach: (told) => {
      const rowsOf = told.map(({ rows }, place) => share(rows, folds[place] as Fold));
      return asked.map((one, i) => {
        const place = places[i] as number;
        const rows = rowsOf[place]?.get(one);
        return rows === undefined ? (told[place] as Told) : { ...(told[place] as Told), rows };
      });
    },
  };
}

const isForMany = ({ text }: Asked) => manyBy(text) !== undefined;
const keysOf = ({ text, values }: Asked): readonly unknown[] =>
  manyBy(text) === '' ? [] : (values.find(Array.isArray) ?? []);

function emptyFold(one: Asked): Fold {
  const values = isForMany(one) ? one.values.map((value) => (Array.isArray(value) ? [] : value)) : one.values;
  return { text: one.text, values, parts: [], owners: new Map() };
}

function takes(fold: Fold, one: Asked): boolean {
  if (fold.text !== one.text || !isForMany(one)) return false;
  const isSame = one.values.every((value, i) => Array.isArray(value) || value === fold.values[i]);
  return isSame && !keysOf(one).some((key) => fold.owners.has(key));
}

function add(fold: Fold, one: AskedBy): void {
  fold.parts.push(one);
  if (!isForMany(one)) return;
  for (const [i, value] of one.values.entries())
    if (Array.isArray(value)) (fold.values[i] as unknown[]).push(...value);
  for (const key of keysOf(one)) fold.owners.set(key, one);
}

/** @returns the rows of each part; empty where all are its only one's */
function share(rows: Told['rows'], { text, parts, owners }: Fold): Map<AskedBy, Told['rows']> {
  const shares = new Map<AskedBy, Told['rows']>();
  const column = manyBy(text);
  if (!column || parts.length === 1) return shares;
  for (const part of parts) shares.set(part, []);
  for (const row of rows) {
    const owner = owners.get(row[column]);
    if (owner !== undefined) shares.get(owner)?.push(row);
  }
  return shares;
}
