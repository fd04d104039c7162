import { ASSETS, NETWORKS } from '@florin/contract/money';
import { type Defaults, faultyRowsCsv, type PlannedBatch, totalOf } from '@florin/contract/payout-file';
import { Alert, Button, Group, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { saveFile } from '../../csv.ts';
import { NETWORK_NAMES, numbered } from '../../format.tsx';
import { mayLeave, useUnsaved } from '../../unsaved.ts';
import type { ReadFile } from './choose-file.tsx';
import { RowTable } from './row-table.tsx';
import { type Checked, type Rows, useRows } from './rows.ts';

const REPEATS_SHOWN = 5;
const SOME_ROWS = 'rows with errors';
const ALL_ROWS = 'all rows';

const Summary = ({ planned }: { planned: readonly PlannedBatch[] }) => (
  <Table className="list" aria-label="Batches">
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Batch</Table.Th>
        <Table.Th>Network</Table.Th>
        <Table.Th className="number">Recipients</Table.Th>
        <Table.Th className="number">Total</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {planned.map((batch, index) => (
        <Table.Tr key={batch.items[0]?.where}>
          <Table.Td data-label="Batch">{index + 1}</Table.Td>
          <Table.Td data-label="Network">{NETWORK_NAMES[batch.network]}</Table.Td>
          <Table.Td data-label="Recipients" className="number">
            {batch.items.length}
          </Table.Td>
          <Table.Td data-label="Total" className="number">
            {totalOf(batch)} {batch.currency}
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
);

/** What rows are paid in that do not say it. */
function DefaultFields({ defaults, set }: { defaults: Defaults; set: (defaults: Defaults) => void }) {
  const none = { value: '', label: 'not set' };
  const change = (field: 'currency' | 'network', value: string) => {
    const chosen = { ...defaults, [field]: value };
    const currency = ASSETS.find((one) => one === chosen.currency);
    const network = NETWORKS.find((one) => one === chosen.network);
    set({ ...(currency && { currency }), ...(network && { network }) });
  };
  return (
    <Group>
      <NativeSelect
        label="Currency of rows without one"
        size="sm"
        data={[none, ...ASSETS]}
        value={defaults.currency ?? ''}
        onChange={(event) => change('currency', event.currentTarget.value)}
      />
      <NativeSelect
        label="Network of rows without one"
        size="sm"
        data={[none, ...NETWORKS.map((value) => ({ value, label: NETWORK_NAMES[value] ?? value }))]}
        value={defaults.network ?? ''}
        onChange={(event) => change('network', event.currentTarget.value)}
      />
    </Group>
  );
}

/** What is to be done with rows that have errors. */
function Faulty({ rows, name }: { rows: Rows; name: string }) {
  const { faulty } = rows.checked;
  if (faulty.length === 0) return null;
  const save = () => {
    const rowsOf = faulty.map(({ row: { cells }, faults }) => ({
      cells,
      error: faults.map(({ field, what }) => `${field}: ${what}`).join('; '),
    }));
    saveFile(`${name}-errors.csv`, new Blob([faultyRowsCsv(rowsOf)], { type: 'text/csv' }));
  };
  return (
    <Alert color="red" variant="outline" title={`${numbered(faulty.length, 'row')} with errors`}>
      <Text size="sm">Mend them below, or pay them with another file.</Text>
      <Group mt="xs" gap="xs">
        <Button size="xs" variant="default" onClick={save}>
          Download these rows
        </Button>
        <Button size="xs" variant="default" onClick={() => rows.leaveOut(faulty.map(({ row }) => row))}>
          Leave all of them out
        </Button>
      </Group>
    </Alert>
  );
}

const Repeats = ({ repeats }: Pick<Checked, 'repeats'>) =>
  repeats.length > 0 && (
    <Alert color="orange" variant="outline" title="Paid twice?">
      {repeats.slice(0, REPEATS_SHOWN).map(({ where, earlier }) => (
        <Text key={where} size="sm">
          {where} pays the same as {earlier}.
        </Text>
      ))}
      {repeats.length > REPEATS_SHOWN && (
        <Text size="sm">
          and {numbered(repeats.length - REPEATS_SHOWN, 'more such row', 'more such rows')}
        </Text>
      )}
    </Alert>
  );

interface CheckRowsProps {
  file: ReadFile;
  /** Whether drafts are made of the rows, which keep what was mended. */
  isMade: boolean;
  /** Takes the batches that pay the rows. */
  done: (planned: PlannedBatch[], reference: string) => void;
  back: () => void;
}

/** The rows of a file, with what is wrong beside each cell; nothing is sent before all of them are right. */
export function CheckRows({ file, isMade, done, back }: CheckRowsProps) {
  const rows = useRows(file.rows);
  const { checked, defaults } = rows;
  const isUnsaved = rows.isMended && !isMade;
  useUnsaved(() => isUnsaved);
  const name = file.name.replace(/\.csv$/i, '');
  const [reference, setReference] = useState(name);
  const [showsAll, setShowsAll] = useState(checked.faulty.length === 0);
  const shown = showsAll ? checked.rows : checked.rows.filter(rows.isOpen);
  const isReady = checked.rows.length > 0 && checked.faulty.length === 0 && reference.trim() !== '';
  return (
    <Stack>
      <Text>
        {numbered(checked.rows.length, 'row')} of {file.name}
      </Text>
      <DefaultFields defaults={defaults} set={rows.setDefaults} />
      <Faulty rows={rows} name={name} />
      <Repeats repeats={checked.repeats} />
      <Group>
        <NativeSelect
          label="Show"
          size="sm"
          data={[SOME_ROWS, ALL_ROWS]}
          value={showsAll ? ALL_ROWS : SOME_ROWS}
          onChange={(event) => setShowsAll(event.currentTarget.value === ALL_ROWS)}
        />
      </Group>
      {shown.length > 0 && <RowTable rows={rows} shown={shown} />}
      <Summary planned={checked.planned} />
      <TextInput
        label="Reference"
        description="Nothing is made twice under one reference, even if this page is closed in the middle. A payout of the next month takes another one."
        value={reference}
        maxLength={200}
        onChange={(event) => setReference(event.currentTarget.value)}
      />
      <Group>
        <Button variant="default" onClick={() => mayLeave(isUnsaved) && back()}>
          Another file
        </Button>
        <Button disabled={!isReady} onClick={() => done(checked.planned, reference.trim())}>
          Make {checked.planned.length === 1 ? 'the draft' : numbered(checked.planned.length, 'draft')}
        </Button>
      </Group>
    </Stack>
  );
}
