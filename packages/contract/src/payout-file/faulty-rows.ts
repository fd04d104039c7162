import { PAYOUT_FIELDS, type PayoutCells } from './check-row.ts';
import { FAULT_COLUMN } from './read-items.ts';

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

/** What a spreadsheet would run as a formula begins with an apostrophe instead. */
const cellText = (text: string) => quoted(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

export interface FaultyRow {
  cells: PayoutCells;
  /** What is wrong with it, or why it was not paid. */
  error: string;
}

/** Rows with what is wrong with each, as a CSV that can be mended and read again. */
export function faultyRowsCsv(rows: readonly FaultyRow[]): string {
  const lines = rows.map(({ cells, error }) => [...PAYOUT_FIELDS.map((field) => cells[field] ?? ''), error]);
  const table = [[...PAYOUT_FIELDS, FAULT_COLUMN], ...lines];
  return `${table.map((line) => line.map(cellText).join(',')).join('\r\n')}\r\n`;
}
