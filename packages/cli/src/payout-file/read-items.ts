import { ASSETS, type Asset, NETWORKS, type Network, parseAmount } from '@florin/contract/money';
import type { PayoutItemInput } from '@florin/sdk';
import { type CsvRow, csvRows, FileFault } from './csv-rows.ts';

/** What a file pays to one person, and where in the file that stands. */
export interface FileItem {
  where: string;
  /** How a place in the item is named: `row 3, column amount` or `items[2].amount`. */
  locate: (field: string) => string;
  currency: Asset;
  input: PayoutItemInput & { amount: string };
}

export interface FilePayout {
  description: string | undefined;
  items: FileItem[];
}

/** What a file need not say in each row. */
export interface Defaults {
  currency?: Asset;
  network?: Network;
}

/** Every fault of a file, in its order. */
export class FileFaults extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

const FIELDS = ['address', 'amount', 'network', 'currency', 'real_name', 'memo'] as const;
type Field = (typeof FIELDS)[number];
type Fields = Partial<Record<Field, string>>;

const LENGTHS_MAX: Readonly<Record<string, number>> = { address: 256, real_name: 500, memo: 128 };
/** Of a value in a message. */
const SHOWN_MAX = 40;
/** A spreadsheet that opens what we export would run a cell that begins so. */
const FORMULA = /^[=+\-@\t\r]/;
const CONTROL = /\p{Cc}/u;

const isField = (name: string): name is Field => FIELDS.some((field) => field === name);

/** The items of a CSV with a heading. @throws FileFaults */
export function readCsv(text: string, defaults: Defaults): FilePayout {
  const faults: string[] = [];
  const items: FileItem[] = [];
  let heading: Field[] | undefined;
  collect(faults, () => {
    for (const row of csvRows(text)) {
      if (heading === undefined) heading = readHeading(row);
      else {
        const names = heading;
        collect(faults, () => items.push(itemOf(fieldsOf(row, names), row.number, defaults)));
      }
    }
  });
  if (faults.length === 0 && items.length === 0) faults.push('row 2: there is nobody to pay');
  if (faults.length > 0) throw new FileFaults(faults);
  return { description: undefined, items };
}

function collect(faults: string[], read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    faults.push(error.message);
  }
}

function readHeading({ number, cells }: CsvRow): Field[] {
  const names = cells.map((cell) => cell.trim().toLowerCase().replaceAll(' ', '_'));
  return names.map((name, i) => {
    const where = `row ${number}, column ${i + 1}`;
    if (!isField(name))
      throw new FileFault(
        where,
        `${JSON.stringify(name.slice(0, SHOWN_MAX))} is none of ${FIELDS.join(', ')}`,
      );
    if (names.indexOf(name) !== i) throw new FileFault(where, `there are two columns ${name}`);
    return name;
  });
}

function fieldsOf({ number, cells }: CsvRow, heading: readonly Field[]): Fields {
  if (cells.length > heading.length)
    throw new FileFault(`row ${number}`, `${cells.length} cells, but the heading has ${heading.length}`);
  const pairs = heading.map((name, i) => [name, cells[i]?.trim() ?? '']);
  return Object.fromEntries(pairs.filter(([, cell]) => cell !== ''));
}

const itemOf = (fields: Fields, number: number, defaults: Defaults) =>
  checkItem(fields, defaults, {
    where: `row ${number}`,
    locate: (field) => `row ${number}, column ${field}`,
  });

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
    collect(faults, () => read.push(checkItem(texts(given, locate), defaults, { where, locate })));
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

function texts(item: object, locate: (field: string) => string): Fields {
  for (const [name, value] of Object.entries(item)) {
    if (!isField(name))
      throw new FileFault(locate(name), `there is no such field; there are ${FIELDS.join(', ')}`);
    if (typeof value !== 'string')
      throw new FileFault(locate(name), `it must be text${name === 'amount' ? ', such as "12.50"' : ''}`);
  }
  return item;
}

type ItemLocation = Pick<FileItem, 'where' | 'locate'>;

/** Checks what a file alone can tell; the service checks addresses. @throws FileFault */
function checkItem(fields: Fields, defaults: Defaults, location: ItemLocation): FileItem {
  for (const [field, value] of Object.entries(fields))
    checkText(value, location.locate(field), LENGTHS_MAX[field]);
  const { address, amount, memo, real_name } = fields;
  if (address === undefined) throw new FileFault(location.locate('address'), 'it is missing');
  const network = oneOf(
    NETWORKS,
    fields.network?.toLowerCase() ?? defaults.network,
    location.locate('network'),
  );
  const currency = oneOf(
    ASSETS,
    fields.currency?.toUpperCase() ?? defaults.currency,
    location.locate('currency'),
  );
  const input = {
    network,
    address,
    amount: checkAmount(amount, location.locate('amount')),
    ...(real_name === undefined ? {} : { real_name }),
    ...(memo === undefined ? {} : { memo }),
  };
  return { ...location, currency, input };
}

function checkText(value: string, where: string, lengthMax: number | undefined): void {
  if (lengthMax !== undefined && FORMULA.test(value))
    throw new FileFault(where, `${JSON.stringify(value[0])} at its beginning makes a formula`);
  if (CONTROL.test(value)) throw new FileFault(where, 'it has a line break or another control character');
  if (lengthMax !== undefined && value.length > lengthMax)
    throw new FileFault(where, `it is longer than ${lengthMax} characters`);
}

function oneOf<T extends string>(known: readonly T[], value: string | undefined, where: string): T {
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  const problem =
    value === undefined ? 'it is missing; it is' : `${JSON.stringify(value.slice(0, SHOWN_MAX))} is not`;
  throw new FileFault(where, `${problem} one of ${known.join(', ')}`);
}

function checkAmount(text: string | undefined, where: string): string {
  if (text === undefined) throw new FileFault(where, 'it is missing');
  try {
    parseAmount(text);
    return text;
  } catch {
    throw new FileFault(
      where,
      `${JSON.stringify(text.slice(0, SHOWN_MAX))} is not an amount such as 1200.50`,
    );
  }
}
