import type { Command } from 'commander';
import { formatDetails, formatTable, type Row } from './table.ts';

/** True where the command line asks for JSON. */
export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: true }>().json === true;
}

/** JSON for programs: integers of any size as strings, so that none is rounded on the way. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, field) => (typeof field === 'bigint' ? String(field) : field), 2);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints one item or a list. `toRow` selects the fields of each for text output; JSON has all fields. */
export function show<T extends object>(
  command: Command,
  value: T | readonly T[],
  toRow: (one: T) => Row = allFields,
): void {
  if (wantsJson(command)) print(toJson(value));
  else if (isList(value)) print(formatTable(value.map(toRow)));
  else print(formatDetails(toRow(value)));
}

export const allFields = (one: object): Row => Object.fromEntries(Object.entries(one));

export const isList = <T extends object>(answer: T | readonly T[]): answer is readonly T[] =>
  Array.isArray(answer);
