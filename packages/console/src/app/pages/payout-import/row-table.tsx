import { PAYOUT_FIELDS, type PayoutField } from '@florin/contract/payout-file';
import { Button, Group, Table, TextInput, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import type { CheckedRow, Rows } from './rows.ts';

const PAGE = 50;

const LABELS: Record<PayoutField, string> = {
  address: 'Address',
  amount: 'Amount',
  network: 'Network',
  currency: 'Currency',
  real_name: 'Recipient',
  memo: 'Memo',
};

const CLASSES: Partial<Record<PayoutField, string>> = { amount: 'number', address: 'address' };

interface CellProps {
  field: PayoutField;
  number: number;
  value: string;
  fault: string | undefined;
  set: (value: string) => void;
}

const Cell = ({ field, number, value, fault, set }: CellProps) => (
  <TextInput
    aria-label={`${LABELS[field]} of row ${number}`}
    size="xs"
    defaultValue={value}
    error={fault}
    onBlur={(event) => event.currentTarget.value !== value && set(event.currentTarget.value)}
    onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
  />
);

interface RowProps {
  checked: CheckedRow;
  isOpen: boolean;
  open: () => void;
  set: (field: PayoutField, value: string) => void;
  leaveOut: () => void;
}

function Row({ checked: { row, faults }, isOpen, open, set, leaveOut }: RowProps) {
  return (
    <Table.Tr>
      <Table.Td data-label="Row" className="number">
        {row.number}
      </Table.Td>
      {PAYOUT_FIELDS.map((field) => (
        <Table.Td key={field} data-label={LABELS[field]} className={CLASSES[field]}>
          {isOpen ? (
            <Cell
              field={field}
              number={row.number}
              value={row.cells[field] ?? ''}
              fault={faults.find((fault) => fault.field === field)?.what}
              set={(value) => set(field, value)}
            />
          ) : (
            (row.cells[field] ?? '')
          )}
        </Table.Td>
      ))}
      <Table.Td>
        <Group gap={4} wrap="nowrap">
          {!isOpen && (
            <Button size="compact-xs" variant="default" onClick={open} aria-label={`Edit row ${row.number}`}>
              Edit
            </Button>
          )}
          <Button
            size="compact-xs"
            variant="default"
            onClick={leaveOut}
            aria-label={`Leave out row ${row.number}`}
          >
            Leave out
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

/** Rows whose cells can be changed. */
export function RowTable({ rows, shown }: { rows: Rows; shown: readonly CheckedRow[] }) {
  const [count, setCount] = useState(PAGE);
  return (
    <>
      <Table className="list" aria-label="Rows">
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="number">Row</Table.Th>
            {PAYOUT_FIELDS.map((field) => (
              <Table.Th key={field} className={CLASSES[field]}>
                {LABELS[field]}
              </Table.Th>
            ))}
            <Table.Th>
              <VisuallyHidden>Changes</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.slice(0, count).map((checked) => (
            <Row
              key={checked.row.number}
              checked={checked}
              isOpen={rows.isOpen(checked)}
              open={() => rows.open(checked.row.number)}
              set={(field, value) => rows.set(checked.row.number, field, value)}
              leaveOut={() => rows.leaveOut([checked.row])}
            />
          ))}
        </Table.Tbody>
      </Table>
      {shown.length > count && (
        <Button variant="default" onClick={() => setCount(count + PAGE)}>
          Show more of {shown.length} rows
        </Button>
      )}
    </>
  );
}
