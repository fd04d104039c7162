import type { Delivery, DeliveryAttempt, Event } from '@florin/contract/schemas';
import { Code, Skeleton, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call, pathWith } from '../api.ts';
import { Action, Detail, Facts, Section } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { CopyId, Maybe, Status, Time, wordsOf } from '../format.tsx';
import { List, type ListDefinition, Rows } from '../list.tsx';
import { useMay, usePlace } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { Trouble } from '../trouble.tsx';

const PATH = '/api/v1/deliveries';
const NEWEST = 10;

/** What an attempt came to: the status of the answer, or why there was none. */
const outcomeOf = ({ status_code, failure }: DeliveryAttempt): string =>
  [status_code, failure !== 'http_status' && failure !== null && wordsOf(failure)].filter(Boolean).join(', ');

/** What the newest attempt came to; undefined: there is none. */
export function newestOf({ attempts }: Delivery): string | undefined {
  const newest = attempts.at(-1);
  return newest && outcomeOf(newest);
}

const DELIVERIES: ListDefinition<Delivery> = {
  title: 'Deliveries',
  path: PATH,
  folder: 'deliveries',
  idOf: ({ id }) => id,
  columns: [
    { title: 'Created', cell: ({ created }) => <Time at={created} /> },
    { title: 'Status', cell: ({ status }) => <Status name={status} /> },
    { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts.length },
    { title: 'Newest answer', cell: (delivery) => <Maybe>{newestOf(delivery)}</Maybe> },
    { title: 'Next attempt', cell: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
    { title: 'Event', cell: ({ event_id }) => <CopyId id={event_id} isShort /> },
    { title: 'Id', cell: ({ id }) => <CopyId id={id} isShort /> },
  ],
  filters: [
    { name: 'endpoint_id', label: 'Endpoint' },
    { name: 'event_id', label: 'Event' },
    {
      name: 'status',
      label: 'Status',
      options: ['pending', 'delivered', 'failed', 'exhausted', 'paused'],
    },
  ],
  empty: {
    text: 'Nothing was sent yet. Once there is an endpoint, its page sends a test event, and so does:',
    command: 'npx florin trigger webhook_endpoint.test',
  },
};

export const DeliveriesPage = () => <List definition={DELIVERIES} />;

/** The newest ones of an endpoint or an event, and the way to all of them. */
export function NewestDeliveries({ filters, empty }: { filters: Record<string, string>; empty: string }) {
  const place = usePlace();
  const newest = useQuery({
    queryKey: ['newest', place, filters],
    queryFn: ({ signal }) =>
      call<{ data: Delivery[] }>(pathWith(PATH, { ...filters, limit: NEWEST }), { place, signal }),
    refetchInterval: 5_000,
  });
  if (newest.error !== null) return <Trouble error={newest.error} retry={() => void newest.refetch()} />;
  const rows = newest.data?.data ?? [];
  if (rows.length === 0) return newest.isPending ? null : <Text>{empty}</Text>;
  return (
    <>
      <Rows definition={DELIVERIES} rows={rows} place={place} />
      <FilteredLink folder="deliveries" filters={filters} />
    </>
  );
}

/** Of the signature the API shows the first digits. */
const Headers = ({ headers }: { headers: Record<string, string> }) => (
  <details>
    <summary>Show</summary>
    <Code block className="curl">
      {Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n')}
    </Code>
  </details>
);

const AttemptRow = ({ attempt, number }: { attempt: DeliveryAttempt; number: number }) => (
  <Table.Tr>
    <Table.Td data-label="Attempt" className="number">
      {number}
    </Table.Td>
    <Table.Td data-label="Sent">
      <Time at={attempt.at} />
    </Table.Td>
    <Table.Td data-label="Took" className="number">
      {attempt.duration_ms} ms
    </Table.Td>
    <Table.Td data-label="Outcome">
      <Status name={attempt.failure === null ? 'delivered' : 'failed'} /> {outcomeOf(attempt)}
    </Table.Td>
    <Table.Td data-label="Answer">
      <Maybe>{attempt.response && <Code className="curl">{attempt.response}</Code>}</Maybe>
    </Table.Td>
    <Table.Td data-label="Headers sent">
      <Maybe>{attempt.request_headers && <Headers headers={attempt.request_headers} />}</Maybe>
    </Table.Td>
  </Table.Tr>
);

const Attempts = ({ attempts }: { attempts: readonly DeliveryAttempt[] }) =>
  attempts.length === 0 ? (
    <Text>None yet.</Text>
  ) : (
    <Table className="list" aria-label="Attempts">
      <Table.Thead>
        <Table.Tr>
          <Table.Th className="number">Attempt</Table.Th>
          <Table.Th>Sent</Table.Th>
          <Table.Th className="number">Took</Table.Th>
          <Table.Th>Outcome</Table.Th>
          <Table.Th>Answer</Table.Th>
          <Table.Th>Headers sent</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {attempts
          .map((attempt, index) => ({ attempt, number: index + 1 }))
          .toReversed()
          .map(({ attempt, number }) => (
            <AttemptRow key={number} attempt={attempt} number={number} />
          ))}
      </Table.Tbody>
    </Table>
  );

function Body({ eventId }: { eventId: string }) {
  const place = usePlace();
  const event = useQuery({
    queryKey: ['event', place, eventId],
    queryFn: ({ signal }) => call<Event>(`/api/v1/events/${encodeURIComponent(eventId)}`, { place, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (event.error !== null) return <Trouble error={event.error} retry={() => void event.refetch()} />;
  if (event.data === undefined) return <Skeleton height={120} aria-label="Loading" />;
  return (
    <Code block className="curl">
      {JSON.stringify(event.data, null, 2)}
    </Code>
  );
}

const factsOf = (delivery: Delivery) =>
  [
    ['Status', <Status key="status" name={delivery.status} />],
    ['Endpoint', <ResourceLink key="endpoint" folder="webhooks" id={delivery.endpoint_id} />],
    ['Event', <ResourceLink key="event" folder="events" id={delivery.event_id} />],
    ['Created', <Time key="created" at={delivery.created} />],
    ['Next attempt', <Time key="next" at={delivery.next_attempt_at} />],
  ] as const;

/** While it is pending or paused it is sent anyway. */
const ENDED = new Set(['delivered', 'failed', 'exhausted']);

export function DeliveryPage() {
  const maySend = useMay('edit_keys');
  return (
    <Detail<Delivery>
      list={{ title: 'Deliveries', folder: 'deliveries' }}
      path={(id) => `${PATH}/${encodeURIComponent(id)}`}
      title={() => 'Delivery'}
      actions={({ id, status }) =>
        maySend &&
        ENDED.has(status) && (
          <Action
            label="Send again"
            question="Send this event again, now? Your server sees the same event id."
            path={`${PATH}/${id}/redeliver`}
          />
        )
      }
    >
      {(delivery) => (
        <>
          <Facts facts={factsOf(delivery)} />
          <Section title="Attempts">
            <Attempts attempts={delivery.attempts} />
          </Section>
          <Section title="Event as it is sent">
            <Body eventId={delivery.event_id} />
          </Section>
        </>
      )}
    </Detail>
  );
}
