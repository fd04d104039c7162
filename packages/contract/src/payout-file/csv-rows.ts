/** A fault of a file, with its place as people find it: `row 3, column amount`. */
export class FileFault extends Error {
  constructor(where: string, what: string) {
    super(`${where}: ${what}`);
  }
}

export interface CsvRow {
  /** As spreadsheets count: the heading is row 1. */
  number: number;
  cells: readonly string[];
}

const QUOTE = '"';
const SEPARATORS = [',', ';', '\t'] as const;

/** The separator that the heading uses, outside of its quotes. */
function separatorOf(text: string): string {
  const heading = text.split(/\r\n|\r|\n/, 1)[0]?.replaceAll(/"[^"]*"/g, '') ?? '';
  const counted = SEPARATORS.map((mark) => ({ mark, count: heading.split(mark).length }));
  return counted.toSorted((a, b) => b.count - a.count)[0]?.mark ?? ',';
}

/** Reads cells one after another; a row ends at a line break outside of quotes. */
class CellReader {
  readonly #text: string;
  readonly #separator: string;
  #at = 0;
  #row = 1;
  #column = 1;

  constructor(text: string) {
    this.#text = text;
    this.#separator = separatorOf(text);
  }

  *rows(): Generator<CsvRow> {
    while (this.#at < this.#text.length) {
      const cells: string[] = [];
      let isOver = false;
      while (!isOver) {
        this.#column = cells.length + 1;
        cells.push(this.#text[this.#at] === QUOTE ? this.#quoted() : this.#plain());
        isOver = this.#endOfCell();
      }
      if (cells.some((cell) => cell.trim() !== '')) yield { number: this.#row, cells };
      this.#row++;
    }
  }

  #plain(): string {
    const from = this.#at;
    while (this.#at < this.#text.length && !this.#isEnd(this.#text[this.#at])) this.#at++;
    return this.#text.slice(from, this.#at);
  }

  #quoted(): string {
    let cell = '';
    for (;;) {
      const end = this.#text.indexOf(QUOTE, this.#at + 1);
      if (end === -1) throw this.#fault('the quote is not closed');
      cell += this.#text.slice(this.#at + 1, end);
      this.#at = end + 1;
      if (this.#text[this.#at] !== QUOTE) break;
      cell += QUOTE;
    }
    if (this.#at < this.#text.length && !this.#isEnd(this.#text[this.#at]))
      throw this.#fault('text follows the closing quote; a quote in a cell is written twice');
    return cell;
  }

  /** Steps over what ends a cell. @returns whether the row is over */
  #endOfCell(): boolean {
    const mark = this.#text[this.#at++];
    if (mark === '\r' && this.#text[this.#at] === '\n') this.#at++;
    return mark !== this.#separator;
  }

  #isEnd = (mark: string | undefined) => mark === this.#separator || mark === '\n' || mark === '\r';

  #fault = (what: string) => new FileFault(`row ${this.#row}, column ${this.#column}`, what);
}

/** The rows of a CSV that are not empty, with `,`, `;` or tabs between cells. @throws FileFault */
export const csvRows = (text: string): Iterable<CsvRow> => new CellReader(text).rows();
