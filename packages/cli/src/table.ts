/** The shown fields of an item, in the order of its keys. */
export type Row = Readonly<Record<string, unknown>>;

const GAP = '  ';
const NUMBER = /^-?\d+(\.\d+)?$/;
// Names and descriptions come from merchants: an escape sequence in one must not reach the operator's terminal.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** One value on one line: nothing as `-`, lists joined, invisible characters written out. */
export function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value)) return value.map(cell).join(',') || '-';
  const text = typeof value === 'string' || typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  return text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

const widthOf = (text: string) => [...text].length;

/** A left or right aligned cell of a width in characters. */
function fit(text: string, width: number, toRight: boolean): string {
  const space = ' '.repeat(width - widthOf(text));
  return toRight ? space + text : text + space;
}

const titleOf = (key: string) => key.replaceAll('_', ' ').toUpperCase();

/** The characters of a line: the width of the terminal, at least 80; 80 if the output is no terminal. */
const lineWidth = () => Math.max(LINE_MIN, process.stdout.columns ?? LINE_MIN);
const LINE_MIN = 80;
const INDENT = '  ';
/** Where a value may be broken: after a space, a comma or a semicolon. An id or an address stays whole. */
const BREAKS = /(?<=[ ,;])/;

/** A text in lines of at most `width` characters, as far as it has places to break. */
function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const piece of text.split(BREAKS)) {
    const line = `${lines.at(-1)}${piece}`;
    if (widthOf(line.trimEnd()) <= width || lines.at(-1) === '') lines[lines.length - 1] = line;
    else lines.push(piece);
  }
  return lines.map((line) => line.trimEnd());
}

interface Column {
  /** The title, then a cell for each row, each in lines. */
  cells: readonly (readonly string[])[];
  width: number;
  toRight: boolean;
}

function columnOf(key: string, rows: readonly Row[], line: number): Column {
  const texts = rows.map((row) => cell(row[key]));
  const cells = [titleOf(key), ...texts].map((text) => wrap(text, line - INDENT.length));
  return {
    cells,
    toRight: texts.every((text) => NUMBER.test(text)),
    width: Math.max(...cells.flat().map(widthOf)),
  };
}

/** Columns side by side as long as they fit; the others follow below. */
function fold(columns: readonly Column[], line: number): Column[][] {
  const groups: Column[][] = [[]];
  let taken = 0;
  for (const column of columns) {
    const group = groups.at(-1) ?? [];
    const needed = taken + column.width + (group.length > 0 ? GAP.length : 0);
    if (needed <= line || group.length === 0) {
      group.push(column);
      taken = group.length === 1 ? taken + column.width : needed;
    } else {
      groups.push([column]);
      taken = INDENT.length + column.width;
    }
  }
  return groups;
}

/** One row of a group of columns: as many lines as its longest cell has. */
function linesOf(group: readonly Column[], row: number): string[] {
  const height = Math.max(...group.map(({ cells }) => cells[row]?.length ?? 0));
  return Array.from({ length: height }, (_, line) =>
    group.map(({ cells, width, toRight }) => fit(cells[row]?.[line] ?? '', width, toRight)).join(GAP),
  );
}

/**
 * Rows under titles, columns aligned, numbers to the right. The columns are the keys of the first row. Those that do not
 * fit in a line of the terminal (80 characters elsewhere) go on below, indented.
 */
export function formatTable(rows: readonly Row[], line = lineWidth()): string {
  if (rows.length === 0) return '(none)';
  const columns = Object.keys(rows[0] ?? {}).map((key) => columnOf(key, rows, line));
  const groups = fold(columns, line);
  const lines = [-1, ...rows.keys()].flatMap((row) =>
    groups.flatMap((group, i) => linesOf(group, row + 1).map((text) => (i === 0 ? '' : INDENT) + text)),
  );
  return lines.map((text) => text.trimEnd()).join('\n');
}

/** One thing, a line for each of its fields; what is longer goes on below. */
export function formatDetails(row: Row, line = lineWidth()): string {
  const names = Object.keys(row).map((key) => key.replaceAll('_', ' '));
  const width = Math.max(0, ...names.map(widthOf));
  return Object.values(row)
    .flatMap((value, i) => {
      const lines = wrap(cell(value), line - width - GAP.length);
      return lines.map((text, k) => `${fit(k === 0 ? (names[i] ?? '') : '', width, false)}${GAP}${text}`);
    })
    .join('\n');
}
