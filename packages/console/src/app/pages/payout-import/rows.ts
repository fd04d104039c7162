import {
  type CellFault,
  checkRow,
  type Defaults,
  locationOf,
  type PayoutCells,
  type PayoutField,
  type PayoutRow,
  type PlannedBatch,
  planBatches,
  repeatsIn,
} from '@florin/contract/payout-file';
import { useMemo, useState } from 'react';

export interface CheckedRow {
  row: PayoutRow;
  faults: readonly CellFault[];
}

export interface Checked {
  rows: CheckedRow[];
  faulty: CheckedRow[];
  planned: PlannedBatch[];
  repeats: { where: string; earlier: string }[];
}

function checkAll(rows: readonly PayoutRow[], defaults: Defaults): Checked {
  const results = rows.map((row) => ({ row, result: checkRow(row.cells, defaults) }));
  const checked = results.map(({ row, result }) => ({ row, faults: Array.isArray(result) ? result : [] }));
  const items = results.flatMap(({ row, result }) =>
    Array.isArray(result) ? [] : [{ ...locationOf(row), ...result }],
  );
  return {
    rows: checked,
    faulty: checked.filter(({ faults }) => faults.length > 0),
    planned: planBatches({ description: undefined, items }),
    repeats: repeatsIn(items),
  };
}

/** The rows as they are after edits. */
export function useRows(read: readonly PayoutRow[]) {
  const [rows, setRows] = useState(read);
  const [defaults, setDefaults] = useState<Defaults>({});
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const checked = useMemo(() => checkAll(rows, defaults), [rows, defaults]);
  const open = (number: number) => setOpened((before) => new Set([...before, number]));
  const set = (number: number, field: PayoutField, value: string) => {
    // A row that was mended stays where it is until the page is left.
    open(number);
    const text = value.trim();
    const changed = (cells: PayoutCells): PayoutCells => {
      const { [field]: _, ...others } = cells;
      return text === '' ? others : { ...others, [field]: text };
    };
    setRows((before) =>
      before.map((row) => (row.number === number ? { number, cells: changed(row.cells) } : row)),
    );
  };
  return {
    checked,
    /** Whether rows are other ones than in the file. */
    isMended: rows !== read,
    defaults,
    setDefaults,
    /** Whether its cells can be typed into: those of a faulty row, and of one that somebody wants to change. */
    isOpen: ({ row, faults }: CheckedRow) => faults.length > 0 || opened.has(row.number),
    open,
    set,
    leaveOut: (out: readonly PayoutRow[]) => {
      const numbers = new Set(out.map(({ number }) => number));
      setRows((before) => before.filter(({ number }) => !numbers.has(number)));
    },
  };
}

export type Rows = ReturnType<typeof useRows>;
