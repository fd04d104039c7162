import type { ClockAdvanced, ClockState, Event } from '@florin/contract/schemas';
import { Button, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { call, change, PageError, type Place, pathWith } from '../../api.ts';
import { Section } from '../../detail.tsx';
import { textOf } from '../../form.ts';
import { CopyId, Time } from '../../format.tsx';
import { type Column, Rows } from '../../list.tsx';
import { useMay, usePlace, useSandbox } from '../../place.ts';
import { readAgain } from '../../read-again.ts';
import { Trouble } from '../../trouble.tsx';
import { OfSandboxes } from './of-sandboxes.tsx';

const CLOCK = '/api/v1/test_helpers/clock';
const EVENTS_READ = 100;
const REFRESH_MS = 5_000;
/** The most that the service goes in one call. */
const LONGEST_SECONDS = 63_158_400;

const UNITS = [
  { value: '60', label: 'minutes' },
  { value: '3600', label: 'hours' },
  { value: '86400', label: 'days' },
];

/** @throws PageError */
function secondsOf(fields: FormData): number {
  const seconds = Number(textOf(fields, 'count').trim()) * Number(textOf(fields, 'unit'));
  if (Number.isSafeInteger(seconds) && seconds >= 1 && seconds <= LONGEST_SECONDS) return seconds;
  throw new PageError('A whole number above 0, of two years at most.');
}

/** Goes on until the whole time has passed: the service answers early where much happens on the way. */
async function advance(
  place: Place,
  seconds: number,
  { reached, isStopped }: { reached: (now: number) => void; isStopped: () => boolean },
): Promise<number> {
  const { now: from } = await call<ClockState>(CLOCK, { place });
  const until = from + seconds;
  let now = from;
  let isDone = false;
  while (!isDone && !isStopped()) {
    const left = Math.max(0, until - now);
    const answer = await change<ClockAdvanced>(`${CLOCK}/advance`, { place, body: { seconds: left } });
    ({ now } = answer);
    isDone = answer.done;
    reached(now);
  }
  return from;
}

const EVENTS: readonly Column<Event>[] = [
  { title: 'Type', cell: ({ type }) => type },
  { title: 'When', cell: ({ created }) => <Time at={created} isExact /> },
  { title: 'Id', cell: ({ id }) => <CopyId id={id} isShort /> },
];

/** The events since a time of the merchant's clock. */
function Caused({ since }: { since: number }) {
  const place = usePlace();
  const events = useQuery({
    queryKey: ['caused', place, since],
    queryFn: ({ signal }) =>
      call<{ data: Event[]; has_more: boolean }>(pathWith('/api/v1/events', { limit: EVENTS_READ }), {
        place,
        signal,
      }),
    refetchInterval: REFRESH_MS,
  });
  const rows = events.data?.data.filter(({ created }) => created >= since) ?? [];
  return (
    <Section title="What it caused">
      {events.error !== null && <Trouble error={events.error} />}
      {events.isSuccess && rows.length === 0 && <Text>Nothing was due in that time.</Text>}
      {rows.length > 0 && (
        <Rows
          definition={{ title: 'What it caused', columns: EVENTS, idOf: ({ id }) => id, folder: 'events' }}
          rows={rows}
          place={place}
        />
      )}
      {rows.length === EVENTS_READ && <Text>The newest {EVENTS_READ}; the page Events has all.</Text>}
    </Section>
  );
}

function Advance() {
  const place = usePlace();
  const client = useQueryClient();
  const mayReadEvents = useMay('see_requests');
  const stopped = useRef(false);
  const [reached, setReached] = useState<number>();
  const {
    mutate,
    isPending,
    error,
    data: since,
  } = useMutation({
    mutationFn: (fields: FormData) => {
      stopped.current = false;
      return advance(place, secondsOf(fields), {
        reached: setReached,
        isStopped: () => stopped.current,
      });
    },
    onSettled: () => readAgain(client),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    mutate(new FormData(event.currentTarget));
  };
  return (
    <>
      <form onSubmit={submit}>
        <Group align="end">
          <TextInput name="count" label="Move it ahead by" inputMode="numeric" defaultValue="30" required />
          <NativeSelect name="unit" label="Unit" data={UNITS} defaultValue="86400" />
          <Button type="submit" loading={isPending}>
            Advance
          </Button>
          {isPending && (
            <Button variant="default" onClick={() => (stopped.current = true)}>
              Stop on the way
            </Button>
          )}
        </Group>
      </form>
      {isPending && reached !== undefined && (
        <Text role="status">
          It has reached <Time at={reached} isExact />, and goes on.
        </Text>
      )}
      {error !== null && <Trouble error={error} />}
      {since !== undefined &&
        (mayReadEvents ? (
          <Caused since={since} />
        ) : (
          <Text>It is done. Owners, admins, developers and support see here which events it caused.</Text>
        ))}
    </>
  );
}

function Clock() {
  const place = usePlace();
  const clock = useQuery({
    queryKey: ['clock', place.merchant],
    queryFn: ({ signal }) => call<ClockState>(CLOCK, { place, signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <Text>
        A sandbox has a clock of its own, which only goes ahead. What falls due on the way happens in its
        order: periods end, invoices are charged, sessions expire, webhooks are sent again.
      </Text>
      {clock.error !== null && <Trouble error={clock.error} retry={() => void clock.refetch()} />}
      <Text size="xl">
        It is <Time at={clock.data?.now} isExact />.
      </Text>
      <Advance />
    </>
  );
}

export function ClockPage() {
  const isSandbox = useSandbox();
  return (
    <Stack>
      <Title order={1} size="h2">
        Clock
      </Title>
      {isSandbox ? <Clock /> : <OfSandboxes />}
    </Stack>
  );
}
