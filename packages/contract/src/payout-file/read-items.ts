import {
  type CellFault,
  checkRow,
  type Defaults,
  PAYOUT_FIELDS,
  type Payout,
  type PayoutCells,
  type PayoutField,
  short,
} from './check-row.ts';
import { type CsvRow, csvRows, FileFault } from './csv-rows.ts';

/** What a file pays to one person, and where in the file that stands. */
export interface FileItem extends Payout {
  where: string;
  /** How a place in the item is named: `row 3, column amount` or `items[2].amount`. */
  locate: (field: string) => string;
}

export interface FilePayout {
  description: string | undefined;
  items: FileItem[];
}

/** A row of a CSV, read but not checked. */
export interface PayoutRow {
  /** As spreadsheets count: the heading is row 1. */
  number: number;
  cells: PayoutCells;
}

/** Every fault of a file, in its order. */
export class FileFaults extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** A column that our own files of faulty rows have, so that they can be mended and read again. */
export const FAULT_COLUMN = 'error';

const isField = (name: string): name is PayoutField => PAYOUT_FIELDS.some((field) => field === name);

/** Reads a CSV with a heading. Cells are not checked; rows that cannot be split into them are faults. */
export function readRows(text: string): { rows: PayoutRow[]; faults: string[] } {
  const faults: string[] = [];
  const rows: PayoutRow[] = [];
  let heading: string[] | undefined;
  collect(faults, () => {
    for (const row of csvRows(text)) {
      if (heading === undefined) heading = readHeading(row);
      else {
        const names = heading;
        collect(faults, () => rows.push({ number: row.number, cells: cellsOf(row, names) }));
      }
    }
  });
  if (faults.length === 0 && rows.length === 0) faults.push('row 2: there is nobody to pay');
  return { rows, faults };
}

/** How a row's place is named. */
export const locationOf = ({ number }: PayoutRow) => ({
  where: `row ${number}`,
  locate: (field: string) => `row ${number}, column ${field}`,
});

/** The items of a CSV with a heading. @throws FileFaults with the first fault of each row */
export function readCsv(text: string, defaults: Defaults): FilePayout {
  const { rows, faults } = readRows(text);
  const items: FileItem[] = [];
  for (const row of rows) {
    const location = locationOf(row);
    collect(faults, () => items.push({ ...location, ...checked(row.cells, defaults, location) }));
  }
  if (faults.length > 0) throw new FileFaults(faults.toSorted((a, b) => rowOf(a) - rowOf(b)));
  return { description: undefined, items };
}

/** @throws FileFault where the row has one */
function checked(cells: PayoutCells, defaults: Defaults, { locate }: Pick<FileItem, 'locate'>): Payout {
  const result = checkRow(cells, defaults);
  if (!Array.isArray(result)) return result;
  const [first]: (CellFault | undefined)[] = result;
  throw new FileFault(locate(first?.field ?? 'address'), first?.what ?? 'it is missing');
}

const rowOf = (fault: string) => Number(/^row (\d+)/.exec(fault)?.[1] ?? 0);

function collect(faults: string[], read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    faults.push(error.message);
  }
}

function readHeading({ number, cells }: CsvRow): string[] {
  const names = cells.map((cell) => cell.trim().toLowerCase().replaceAll(' ', '_'));
  for (const [i, name] of names.entries()) {
    const where = `row ${number}, column ${i + 1}`;
    if (!isField(name) && name !== FAULT_COLUMN)
      throw new FileFault(where, `${short(name)} is none of ${PAYOUT_FIELDS.join(', ')}`);
    if (names.indexOf(name) !== i) throw new FileFault(where, `there are two columns ${name}`);
  }
  return names;
}

function cellsOf({ number, cells }: CsvRow, heading: readonly string[]): PayoutCells {
  if (cells.length > heading.length)
    throw new FileFault(`row ${number}`, `${cells.length} cells, but the heading has ${heading.length}`);
  const given = heading.map((name, i) => [name, cells[i]?.trim() ?? ''] as const);
  return Object.fromEntries(given.filter(([name, cell]) => isField(name) && cell !== ''));
}

/** The items of a JSON file: the body of a batch, or just its items. @throws FileFaults */
export function readJson(text: string, defaults: Defaults): FilePayout {
  const body = parse(text);
  const isList = Array.isArray(body);
  const { items, currency, description } = isList ? { items: body } : Object(body);
  const path = isList ? '' : 'items';
  if (!Array.isArray(items) || items.length === 0) throw new FileFaults(['items: there is nobody to pay']);
  if (description !== undefined && typeof description !== 'string')
    throw new FileFaults(['description: it must be text']);
  const faults: string[] = [];
  const read: FileItem[] = [];
  for (const [i, item] of items.entries()) {
    const where = `${path}[${i}]`;
    const locate = (field: string) => `${where}.${field}`;
    const given = { ...(currency === undefined ? {} : { currency }), ...Object(item) };
    collect(faults, () =>
      read.push({ where, locate, ...checked(texts(given, locate), defaults, { locate }) }),
    );
  }
  if (faults.length > 0) throw new FileFaults(faults);
  return { description, items: read };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new FileFaults([`this is not JSON: ${reason.replaceAll(/\s+/g, ' ')}`]);
  }
}

function texts(item: object, locate: (field: string) => string): PayoutCells {
  for (const [name, value] of Object.entries(item)) {
    if (!isField(name))
      throw new FileFault(locate(name), `there is no such field; there are ${PAYOUT_FIELDS.join(', ')}`);
    if (typeof value !== 'string')
      throw new FileFault(locate(name), `it must be text${name === 'amount' ? ', such as "12.50"' : ''}`);
  }
  return item;
}
