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

/** Rows under titles, columns aligned, numbers to the right. The columns are the keys of the first row. */
export function formatTable(rows: readonly Row[]): string {
  if (rows.length === 0) return '(none)';
  const columns = Object.keys(rows[0] ?? {}).map((key) => {
    const cells = rows.map((row) => cell(row[key]));
    const toRight = cells.every((text) => NUMBER.test(text));
    const width = Math.max(...[titleOf(key), ...cells].map(widthOf));
    return { lines: [titleOf(key), ...cells], toRight, width };
  });
  const lines = [-1, ...rows.keys()].map((row) =>
    columns.map(({ lines: texts, width, toRight }) => fit(texts[row + 1] ?? '', width, toRight)).join(GAP),
  );
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** One thing, a line for each of its fields. */
export function formatDetails(row: Row): string {
  const names = Object.keys(row).map((key) => key.replaceAll('_', ' '));
  const width = Math.max(0, ...names.map(widthOf));
  return Object.values(row)
    .map((value, i) => `${fit(names[i] ?? '', width, false)}${GAP}${cell(value)}`)
    .join('\n');
}
