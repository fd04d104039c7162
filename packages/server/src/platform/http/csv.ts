import type { TSchema } from 'typebox';
import { isoOf } from '../db/clock.ts';

interface Column {
  field: string;
  heading: string;
  isTime: boolean;
}

interface Shape {
  properties?: Record<string, TSchema>;
  anyOf?: TSchema[];
  format?: string;
}

const isTime = (schema: TSchema): boolean => {
  const { format, anyOf }: Shape = schema;
  return format === 'unix-time' || (anyOf?.some(isTime) ?? false);
};

/** One column for each field of an item, in the order of its schema. Times end in `_utc`. */
export function columnsOfItem(item: TSchema): readonly Column[] {
  const { properties = {} }: Shape = item;
  return Object.entries(properties).map(([field, schema]) => ({
    field,
    heading: isTime(schema) ? `${field}_utc` : field,
    isTime: isTime(schema),
  }));
}

export const headingLine = (columns: readonly Column[]) =>
  lineOf(columns.map(({ heading }) => quoted(heading)));

/** Called for each of a million rows: it makes no list of cells. */
export function itemLine(columns: readonly Column[], item: object): string {
  let line = '';
  let separator = '';
  for (const { field, isTime } of columns) {
    const value: unknown = Reflect.get(item, field);
    line += separator + (isTime && typeof value === 'number' ? timeText(value) : cell(value));
    separator = ',';
  }
  return `${line}\r\n`;
}

/** The last line: a file without it was cut off. */
export const closingLine = (rows: number) => `# ${rows} rows\r\n`;

const lineOf = (cells: readonly string[]) => `${cells.join(',')}\r\n`;

/** A time as spreadsheets read it: the heading says that it is UTC. */
function timeText(seconds: number): string {
  const iso = isoOf(seconds * 1000) ?? '';
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
}

/** Objects are written as JSON, lists of plain values with spaces in between. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return quoted(harmless(value));
  const isPlain = Array.isArray(value) && value.every((one) => typeof one !== 'object');
  return quoted(harmless(isPlain ? value.join(' ') : JSON.stringify(value)));
}

/**
 * A text that no spreadsheet runs as a formula: an apostrophe makes text of what begins like one. A semicolon, tab or line
 * break begins a new cell where a program splits at those, so what follows them is treated as a beginning as well.
 */
const harmless = (text: string) =>
  BEGINS_FORMULA.test(text) ? text.replaceAll(/(?<=^|[;\t\r\n])(?=[=+\-@\t\r＝＋－＠])/g, "'") : text;

/** Finds the same places in a twentieth of the time that looking behind each character takes. */
const BEGINS_FORMULA = /(?:^|[;\t\r\n])[=+\-@\t\r＝＋－＠]/;

const quoted = (text: string) =>
  /[",;\r\n\t]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
