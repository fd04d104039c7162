import { EVENT_CATALOGUE } from '@florin/contract/event-catalogue';
import type { Event } from '@florin/contract/schemas';
import { Anchor, Code, Stack, Table, Text } from '@mantine/core';
import { Detail, Facts, Section } from '../detail.tsx';
import { CopyId, Maybe, Time } from '../format.tsx';
import { List, type ListDefinition } from '../list.tsx';
import { ResourceLink } from '../resource-link.tsx';
import { NewestDeliveries } from './deliveries.tsx';
import { FirstPayment } from './sandbox/first-rows.tsx';

const PATH = '/api/v1/events';
const BUILT = Object.entries(EVENT_CATALOGUE).filter(([, { built }]) => built);

/** Pages of resources, by what an event calls them. */
const FOLDERS = new Map([
  ['payment', 'payments'],
  ['refund', 'refunds'],
  ['subscription', 'subscriptions'],
  ['invoice', 'invoices'],
  ['customer', 'customers'],
  ['payout_batch', 'payouts'],
]);

/** The id of the resource: payments call it `id`, refunds `refund_id`, payout batches `batch_id`. */
function idOf({ data }: Event): string | undefined {
  const { id, refund_id, batch_id } = data.object as Record<string, unknown>;
  return [id, refund_id, batch_id].find((one) => typeof one === 'string');
}

const EVENTS: ListDefinition<Event> = {
  title: 'Events',
  path: PATH,
  folder: 'events',
  idOf: ({ id }) => id,
  columns: [
    { title: 'Type', cell: ({ type }) => type },
    { title: 'Created', cell: ({ created }) => <Time at={created} isExact /> },
    {
      title: 'Resource',
      cell: (event) => {
        const id = idOf(event);
        return <Maybe>{id && <CopyId id={id} isShort />}</Maybe>;
      },
    },
    { title: 'No.', isNumber: true, cell: ({ sequence }) => sequence },
    { title: 'Id', cell: ({ id }) => <CopyId id={id} isShort /> },
  ],
  filters: [
    { name: 'type', label: 'Type', options: BUILT.map(([type]) => type) },
    { name: 'resource', label: 'Resource' },
  ],
  empty: {
    text: 'No events yet: each change of a payment, refund, subscription or invoice makes one. So does, in a sandbox:',
    command: 'npx florin trigger payment.completed',
    sandbox: <FirstPayment />,
  },
};

/** The types of events, with their meaning. */
const Catalogue = () => (
  <details>
    <summary>What the types say</summary>
    <Table className="list" aria-label="Types of events">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Type</Table.Th>
          <Table.Th>Sent when</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {BUILT.map(([type, { change }]) => (
          <Table.Tr key={type}>
            <Table.Td data-label="Type">
              <Anchor href={`/docs/events/${type}`} underline="always">
                <Code>{type}</Code>
              </Anchor>
            </Table.Td>
            <Table.Td data-label="Sent when">{change}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
    <Text size="sm">Each leads to an example of its body.</Text>
  </details>
);

export const EventsPage = () => (
  <Stack>
    <List definition={EVENTS} />
    <Catalogue />
  </Stack>
);

function Resource({ event }: { event: Event }) {
  const id = idOf(event);
  const folder = FOLDERS.get(event.type.split('.', 1)[0] ?? '');
  if (id === undefined) return <Maybe>{null}</Maybe>;
  return folder === undefined ? <CopyId id={id} /> : <ResourceLink folder={folder} id={id} />;
}

/** One event: the very JSON that is delivered, and where it was sent. */
export const EventPage = () => (
  <Detail<Event>
    list={{ title: 'Events', folder: 'events' }}
    path={(id) => `${PATH}/${encodeURIComponent(id)}`}
    title={({ type }) => type}
    isFinal
  >
    {(event) => (
      <>
        <Facts
          facts={[
            ['Resource', <Resource key="resource" event={event} />],
            ['Change of it', `no. ${event.sequence}`],
            ['Created', <Time key="created" at={event.created} isExact />],
          ]}
        />
        <Section title="Deliveries">
          <NewestDeliveries
            filters={{ event_id: event.id }}
            empty="Sent nowhere: no endpoint was there that names its type."
          />
        </Section>
        <Section title="As it is sent">
          <Code block className="curl">
            {JSON.stringify(event, null, 2)}
          </Code>
        </Section>
      </>
    )}
  </Detail>
);
