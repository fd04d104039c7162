import type { Delivery, Event } from '@florin/contract/schemas';
import { Code, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call, type Place, pathWith } from '../../api.ts';
import { Section } from '../../detail.tsx';
import { FilteredLink } from '../../filtered-link.tsx';
import { Status, Time } from '../../format.tsx';
import { useMay, usePlace, useSandbox } from '../../place.ts';
import { ResourceLink } from '../../resource-link.tsx';
import { Trouble } from '../../trouble.tsx';
import { newestOf } from '../deliveries.tsx';
import { OfSandboxes } from './of-sandboxes.tsx';

const EVENTS_SHOWN = 20;
/** The most that the API gives at once. */
const DELIVERIES_READ = 100;
const REFRESH_MS = 5_000;

interface Inbox {
  events: Event[];
  deliveries: Map<string, Delivery[]>;
}

/** The newest events of a store, and where each was sent. */
async function readInbox(place: Place, signal: AbortSignal): Promise<Inbox> {
  const [events, deliveries] = await Promise.all([
    call<{ data: Event[] }>(pathWith('/api/v1/events', { limit: EVENTS_SHOWN }), { place, signal }),
    call<{ data: Delivery[] }>(pathWith('/api/v1/deliveries', { limit: DELIVERIES_READ }), { place, signal }),
  ]);
  return { events: events.data, deliveries: Map.groupBy(deliveries.data, ({ event_id }) => event_id) };
}

const Sent = ({ delivery }: { delivery: Delivery }) => (
  <Group component="li" gap="xs">
    <ResourceLink folder="deliveries" id={delivery.id} />
    <Status name={delivery.status} />
    <Text size="sm">{newestOf(delivery) ?? 'not tried yet'}</Text>
  </Group>
);

const Came = ({ event, deliveries }: { event: Event; deliveries: readonly Delivery[] }) => (
  <Section title={event.type}>
    <Text size="sm">
      <Time at={event.created} isExact />, change no. {event.sequence} of it
    </Text>
    {deliveries.length === 0 ? (
      <Text size="sm">No endpoint was there that names its type.</Text>
    ) : (
      <ul className="timeline" aria-label={`Deliveries of ${event.type}`}>
        {deliveries.map((delivery) => (
          <Sent key={delivery.id} delivery={delivery} />
        ))}
      </ul>
    )}
    <details>
      <summary>As it is sent</summary>
      <Code block className="curl">
        {JSON.stringify(event, null, 2)}
      </Code>
    </details>
  </Section>
);

/** The newest events of the store, as an endpoint gets them, and their deliveries. Events are shown where there is no endpoint, too. */
export function InboxPage() {
  const place = usePlace();
  const isSandbox = useSandbox();
  const isShown = useMay('see_requests') && isSandbox;
  const inbox = useQuery({
    queryKey: ['events', 'inbox', place],
    queryFn: ({ signal }) => readInbox(place, signal),
    refetchInterval: REFRESH_MS,
    enabled: isShown,
  });
  return (
    <Stack>
      <Title order={1} size="h2">
        Webhook inbox
      </Title>
      {!isShown && <OfSandboxes />}
      {inbox.error !== null && <Trouble error={inbox.error} retry={() => void inbox.refetch()} />}
      {inbox.isLoading && <Skeleton height={240} aria-label="Loading" />}
      {inbox.data?.events.length === 0 && (
        <Text>
          Nothing has happened yet. Pay a payment as its payer, or run npx florin trigger payment.completed.
        </Text>
      )}
      {inbox.data?.events.map((event) => (
        <Came key={event.id} event={event} deliveries={inbox.data.deliveries.get(event.id) ?? []} />
      ))}
      {inbox.data?.events.length === EVENTS_SHOWN && (
        <Text size="sm">
          The newest {EVENTS_SHOWN} are shown. All: <FilteredLink folder="events" filters={{}} />
        </Text>
      )}
    </Stack>
  );
}
