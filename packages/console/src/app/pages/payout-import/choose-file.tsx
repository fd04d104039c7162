import { decodeFile, FileFault, PAYOUT_FIELDS, type PayoutRow, readRows } from '@florin/contract/payout-file';
import { Alert, Anchor, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { type ChangeEvent, type DragEvent, useRef, useState } from 'react';
import { saveFile } from '../../csv.ts';

const BYTES_MAX = 20_000_000;
const FAULTS_SHOWN = 20;

/** A file that was read; its cells are not checked yet. */
export interface ReadFile {
  name: string;
  rows: PayoutRow[];
}

const TEMPLATE = [
  PAYOUT_FIELDS.join(','),
  '0x52908400098527886E0F7030069857D2E4169EE7,12.50,erc20,USDT,Ada Lovelace,salary of May',
  '',
].join('\r\n');

const saveTemplate = () => saveFile('payouts.csv', new Blob([TEMPLATE], { type: 'text/csv' }));

/** @returns the file's rows, or what keeps them from being read */
async function read(file: File): Promise<ReadFile | string[]> {
  if (file.size > BYTES_MAX) return ['The file is larger than 20 MB: split it.'];
  try {
    const { rows, faults } = readRows(decodeFile(new Uint8Array(await file.arrayBuffer())));
    return faults.length > 0 ? faults : { name: file.name, rows };
  } catch (error) {
    if (error instanceof FileFault) return [error.message];
    throw error;
  }
}

function Faults({ faults }: { faults: readonly string[] }) {
  const more = faults.length - FAULTS_SHOWN;
  return (
    <Alert color="red" variant="outline" role="alert" title="The file cannot be read">
      {faults.slice(0, FAULTS_SHOWN).map((fault) => (
        <Text key={fault} size="sm">
          {fault}
        </Text>
      ))}
      {more > 0 && <Text size="sm">and {more} more</Text>}
    </Alert>
  );
}

/** Takes a file by the button or dropped on it. */
export function ChooseFile({ take }: { take: (file: ReadFile) => void }) {
  const [faults, setFaults] = useState<readonly string[]>([]);
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const open = async (file: File | undefined) => {
    if (file === undefined) return;
    const result = await read(file);
    if (Array.isArray(result)) setFaults(result);
    else take(result);
  };
  const onChange = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    void open(currentTarget.files?.[0]);
    // The same file may be chosen again once it is mended.
    currentTarget.value = '';
  };
  const drag = (isHere: boolean) => (event: DragEvent) => {
    event.preventDefault();
    setOver(isHere);
  };
  const drop = (event: DragEvent) => {
    drag(false)(event);
    void open(event.dataTransfer.files[0]);
  };
  return (
    <Stack>
      <Paper
        withBorder
        p="xl"
        className="drop"
        data-over={isOver || undefined}
        onDragOver={drag(true)}
        onDragLeave={drag(false)}
        onDrop={drop}
      >
        <Stack align="center" gap="sm">
          <Text>Drop a CSV file here: a row for each person to pay.</Text>
          <Group>
            <Button onClick={() => input.current?.click()}>Choose a file</Button>
            <input
              ref={input}
              type="file"
              accept=".csv,text/csv"
              aria-label="CSV file"
              hidden
              onChange={onChange}
            />
            <Anchor component="button" type="button" size="sm" onClick={saveTemplate}>
              Download the template
            </Anchor>
          </Group>
          <Text size="sm" c="var(--plain)">
            Columns: {PAYOUT_FIELDS.join(', ')}. Commas, semicolons or tabs between them, in UTF-8.
          </Text>
        </Stack>
      </Paper>
      {faults.length > 0 && <Faults faults={faults} />}
    </Stack>
  );
}
