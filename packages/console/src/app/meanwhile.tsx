import { Alert, Button, Group, Table } from '@mantine/core';

/** One thing that two people may have changed: as both began with it, as the other has saved it, and as it is in the form. */
export interface Both {
  what: string;
  before: string;
  theirs: string;
  mine: string;
}

interface MeanwhileProps {
  rows: readonly Both[];
  /** Takes what they saved, and gives up what is in the form. */
  take: () => void;
  /** Goes on with what was changed in the form, above what they saved. */
  keep: () => void;
}

const sinceThen = (text: string, before: string): string =>
  text === before ? 'as it was' : text || 'nothing';

/** Somebody else saved meanwhile: both are shown, and the person decides. */
export const Meanwhile = ({ rows, take, keep }: MeanwhileProps) => (
  <Alert color="red" variant="outline" role="alert" title="Somebody changed this meanwhile">
    <Table className="list" aria-label="Both changes">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>What</Table.Th>
          <Table.Th>Theirs</Table.Th>
          <Table.Th>Yours</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows
          .filter(({ before, theirs, mine }) => theirs !== before || mine !== before)
          .map(({ what, before, theirs, mine }) => (
            <Table.Tr key={what}>
              <Table.Td data-label="What">{what}</Table.Td>
              <Table.Td data-label="Theirs">{sinceThen(theirs, before)}</Table.Td>
              <Table.Td data-label="Yours">{sinceThen(mine, before)}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
    <Group mt="xs" gap="xs">
      <Button size="xs" variant="default" onClick={take}>
        Take theirs
      </Button>
      <Button size="xs" variant="default" onClick={keep}>
        Keep what I changed
      </Button>
    </Group>
  </Alert>
);
