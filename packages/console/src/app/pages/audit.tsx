import { Code, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { call, pathWith } from '../api.ts';
import { CopyId, IsoTime, Maybe, Status } from '../format.tsx';
import { type Column, Rows } from '../list.tsx';
import { usePlace } from '../place.ts';
import { ShowMore } from '../show-more.tsx';
import { Trouble } from '../trouble.tsx';

const PAGE = 25;

interface Entry {
  number: number;
  at: string;
  actor_kind: string;
  actor: string;
  origin: string;
  action: string;
  phase: string;
  attempt: number | null;
  request_id: string | null;
  details: unknown;
}

const COLUMNS: Column<Entry>[] = [
  { title: 'No.', isNumber: true, cell: ({ number }) => number },
  { title: 'Time', cell: ({ at }) => <IsoTime at={at} /> },
  {
    title: 'Who',
    cell: ({ actor_kind, actor }) => (
      <>
        {actor_kind} <CopyId id={actor} isShort />
      </>
    ),
  },
  { title: 'From', cell: ({ origin }) => <Maybe>{origin}</Maybe> },
  { title: 'Action', cell: ({ action }) => <Code>{action}</Code> },
  {
    title: 'Phase',
    cell: ({ phase, attempt }) => (
      <>
        <Status name={phase} /> {attempt !== null && `of ${attempt}`}
      </>
    ),
  },
  {
    title: 'Details',
    cell: ({ details }) => (
      <details>
        <summary>Show</summary>
        <Code block className="curl">
          {JSON.stringify(details, null, 2)}
        </Code>
      </details>
    ),
  },
];

const AUDIT = { title: 'Audit log', columns: COLUMNS, idOf: ({ number }: Entry) => String(number) };

/** Who changed what with the merchant, newest first. */
export function AuditPage() {
  const place = usePlace();
  const path = `/console/api/merchants/${place.merchant}/audit-log`;
  const entries = useInfiniteQuery({
    queryKey: ['audit', place.merchant],
    queryFn: ({ pageParam, signal }) =>
      call<{ data: Entry[] }>(pathWith(path, { limit: PAGE, before: pageParam }), { signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ data }) => (data.length === PAGE ? data.at(-1)?.number : undefined),
  });
  const rows = entries.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Stack>
      <Title order={1} size="h2">
        Audit log
      </Title>
      {entries.error !== null && <Trouble error={entries.error} retry={() => void entries.refetch()} />}
      {entries.isPending && <Skeleton height={240} aria-label="Loading" />}
      {entries.isSuccess && rows.length === 0 && <Text>Nothing was changed yet.</Text>}
      {rows.length > 0 && <Rows definition={AUDIT} rows={rows} place={place} />}
      <ShowMore pages={entries} />
    </Stack>
  );
}
