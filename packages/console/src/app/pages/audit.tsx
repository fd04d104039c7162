import { Button, Code, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, pathWith } from '../api.ts';
import { saveFile } from '../csv.ts';
import { CopyId, IsoTime, Maybe, numbered, Status } from '../format.tsx';
import { type Column, type Filter, Filters, NothingFits, Rows } from '../list.tsx';
import { useFilters, usePlace } from '../place.ts';
import { ShowMore } from '../show-more.tsx';
import { Trouble } from '../trouble.tsx';

const PAGE = 25;
/** The most that the service gives at once. */
const EXPORT_PAGE = 500;

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
  hash: string;
}

interface Page {
  data: Entry[];
  /** E-mail addresses of people, by their id; absent: an older node has answered. */
  people?: Record<string, string>;
}

/** With the e-mail address of the person who did it. */
type Row = Entry & { email: string | undefined };

const COLUMNS: Column<Row>[] = [
  { title: 'No.', isNumber: true, cell: ({ number }) => number },
  { title: 'Time', cell: ({ at }) => <IsoTime at={at} /> },
  {
    title: 'Who',
    cell: ({ actor_kind, actor, email }) => (
      <>
        {email ?? actor_kind} <CopyId id={actor} isShort />
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

const AUDIT = { title: 'Audit log', columns: COLUMNS, idOf: ({ number }: Row) => String(number) };

const FILTERS: readonly Filter[] = [
  { name: 'actor', label: 'Who: an id or e-mail address' },
  { name: 'action', label: 'Action' },
  { name: 'created[gte]', label: 'From', isTime: true },
  { name: 'created[lt]', label: 'Before', isTime: true },
];

type Search = Record<string, string>;

/** Everything that fits the filters, as lines of JSON, oldest first, as `florin audit export` writes them. */
async function exportLines(
  path: string,
  filters: Search,
): Promise<{ lines: string[]; newest: Entry | undefined }> {
  const entries: Entry[] = [];
  for (;;) {
    const before = entries.at(-1)?.number;
    const query = { ...filters, limit: EXPORT_PAGE, before };
    const { data } = await call<Page>(pathWith(path, query));
    entries.push(...data);
    if (data.length < EXPORT_PAGE) break;
  }
  return { lines: entries.toReversed().map((entry) => `${JSON.stringify(entry)}\n`), newest: entries[0] };
}

interface Exported {
  count: number;
  newest: string | undefined;
}

interface ExportProps {
  path: string;
  /** Undefined: the installation. */
  merchant: string | undefined;
  filters: Search;
}

/** The whole log, or what of it fits the filters, as a file. */
function Export({ path, merchant, filters }: ExportProps) {
  const [exported, setExported] = useState<Exported>();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => exportLines(path, filters),
    onSuccess: ({ lines, newest }) => {
      saveFile(`audit-${merchant ?? 'installation'}.jsonl`, new Blob(lines, { type: 'application/jsonl' }));
      setExported({ count: lines.length, newest: newest && `${newest.number}:${newest.hash}` });
    },
  });
  return (
    <Stack gap="xs" align="flex-start">
      <Button variant="default" size="sm" loading={isPending} onClick={() => mutate()}>
        Download JSON lines
      </Button>
      {error !== null && <Trouble error={error} />}
      {exported !== undefined && (
        <div role="status">
          <Text size="sm">{numbered(exported.count, 'entry', 'entries')} written, the oldest first.</Text>
          {exported.newest !== undefined && (
            <>
              <Text size="sm">Whoever has the database compares it with the newest one of the file:</Text>
              <Code block className="curl">
                {`npx florin audit verify ${merchant === undefined ? '' : `--merchant ${merchant} `}--noted ${exported.newest}`}
              </Code>
            </>
          )}
        </div>
      )}
    </Stack>
  );
}

interface AuditLogProps {
  path: string;
  /** Whose log it is; undefined: the installation's. */
  merchant?: string;
}

/** Who changed what, newest first. */
function AuditLog({ path, merchant }: AuditLogProps) {
  const place = usePlace();
  const filters = useFilters();
  const navigate = useNavigate();
  const entries = useInfiniteQuery({
    queryKey: ['audit', path, filters],
    queryFn: ({ pageParam, signal }) =>
      call<Page>(pathWith(path, { ...filters, limit: PAGE, before: pageParam }), { signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ data }) => (data.length === PAGE ? data.at(-1)?.number : undefined),
  });
  const rows =
    entries.data?.pages.flatMap(({ data, people }) =>
      data.map((entry): Row => ({ ...entry, email: people?.[entry.actor] })),
    ) ?? [];
  const isFiltered = Object.keys(filters).length > 0;
  const show = (search: Search) => void navigate({ to: '.', search: () => search });
  const set = (name: string, value: string) => {
    if (value === (filters[name] ?? '')) return;
    const { [name]: _, ...others } = filters;
    show(value === '' ? others : { ...others, [name]: value });
  };
  return (
    <Stack>
      <Title order={1} size="h2">
        Audit log
      </Title>
      <Filters filters={FILTERS} given={filters} set={set} />
      <Export path={path} merchant={merchant} filters={filters} />
      {entries.error !== null && <Trouble error={entries.error} retry={() => void entries.refetch()} />}
      {entries.isPending && <Skeleton height={240} aria-label="Loading" />}
      {entries.isSuccess && rows.length === 0 && !isFiltered && (
        <Text>Nothing was changed yet: what people change in the console is listed here.</Text>
      )}
      {entries.isSuccess && rows.length === 0 && isFiltered && <NothingFits clear={() => show({})} />}
      {rows.length > 0 && <Rows definition={AUDIT} rows={rows} place={place} />}
      <ShowMore pages={entries} />
    </Stack>
  );
}

/** What was changed with the merchant of the address. */
export function AuditPage() {
  const { merchant } = usePlace();
  return <AuditLog path={`/console/api/merchants/${merchant}/audit-log`} merchant={merchant} />;
}

/** What concerns every merchant: networks, the risk list, settings, people of the installation. */
export const InstallationAuditPage = () => <AuditLog path="/console/api/operator/audit-log" />;
