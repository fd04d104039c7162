import { Alert, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api.ts';
import { Section } from '../../detail.tsx';
import { NETWORK_NAMES, numbered, Status } from '../../format.tsx';
import { type Column, Rows } from '../../list.tsx';
import { usePlace } from '../../place.ts';
import { Trouble } from '../../trouble.tsx';
import { OPERATOR } from './place.ts';

const PATH = `${OPERATOR}/running`;
const REFRESH_MS = 10_000;

interface Endpoint {
  host: string;
  own: boolean;
  height: number | null;
  blocks_behind: number | null;
  problem: string | null;
}

interface RunningNetwork {
  network: string;
  name: string;
  status: 'ok' | 'late' | 'away';
  height: number | null;
  final_height: number | null;
  blocks_not_final: number | null;
  lag_seconds: number | null;
  problem: string | null;
  endpoints: Endpoint[];
}

interface RunningProcess {
  version: string;
  machine: string;
  pid: string;
  workers: number;
}

interface Running {
  networks: RunningNetwork[];
  processes: RunningProcess[];
  signer: { version: string | null; problem: string | null } | null;
}

const blockText = (height: number | null) => (height === null ? '–' : height.toLocaleString('en-US'));

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How old the newest block is, in the largest unit that says it. */
function ageText(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${seconds} s`;
  if (seconds < 2 * HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  return seconds < 2 * DAY ? `${Math.floor(seconds / HOUR)} h` : numbered(Math.floor(seconds / DAY), 'day');
}

/** A status, and below it what is wrong in the service's words. */
const Found = ({ status, problem }: { status: string; problem: string | null }) => (
  <>
    <Status name={status} />
    {problem !== null && (
      <Text size="xs" className="id">
        {problem}
      </Text>
    )}
  </>
);

const heightColumns = (stopped: readonly string[]): readonly Column<RunningNetwork>[] => [
  { title: 'Network', cell: ({ name }) => name },
  {
    title: 'State',
    cell: ({ network, status, problem }) => (
      <>
        {stopped.includes(network) && <Status name="stopped" />}{' '}
        <Found status={status === 'ok' ? 'fine' : status} problem={problem} />
      </>
    ),
  },
  { title: 'Newest block', cell: ({ height }) => blockText(height), isNumber: true },
  {
    title: 'Its age',
    cell: ({ lag_seconds }) => (lag_seconds === null ? '–' : ageText(lag_seconds)),
    isNumber: true,
  },
  { title: 'Final block', cell: ({ final_height }) => blockText(final_height), isNumber: true },
  { title: 'Blocks not final', cell: ({ blocks_not_final }) => blockText(blocks_not_final), isNumber: true },
];

type EndpointRow = Endpoint & { network: string; place: number };
const ENDPOINT_COLUMNS: readonly Column<EndpointRow>[] = [
  { title: 'Network', cell: ({ network }) => NETWORK_NAMES[network] ?? network },
  { title: 'Endpoint', cell: ({ host, own }) => `${host}${own ? ' (your own)' : ''}` },
  {
    title: 'State',
    cell: ({ problem }) => <Found status={problem === null ? 'fine' : 'away'} problem={problem} />,
  },
  { title: 'Newest block', cell: ({ height }) => blockText(height), isNumber: true },
  { title: 'Blocks behind', cell: ({ blocks_behind }) => blockText(blocks_behind), isNumber: true },
];

interface Part {
  what: string;
  version: string;
  where: string;
}
const PART_COLUMNS: readonly Column<Part>[] = [
  { title: 'Runs', cell: ({ what }) => what },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Where', cell: ({ where }) => where },
];

function partsOf({ processes, signer }: Running): Part[] {
  const parts = processes.map(({ version, machine, pid, workers }) => ({
    what: workers === 0 ? 'Service' : `Service with ${numbered(workers, 'worker')}`,
    version,
    where: `${machine}, process ${pid}`,
  }));
  if (signer === null) return parts;
  const where = signer.problem ?? 'answers';
  return [...parts, { what: 'Signer', version: signer.version ?? '–', where }];
}

function Heights({ networks, stopped }: { networks: RunningNetwork[]; stopped: readonly string[] }) {
  const place = usePlace();
  if (networks.length === 0)
    return (
      <Text>
        This installation has no network of real money: FLORIN_NETWORKS_FILE names them. Each sandbox has
        simulated chains of its own, on its page Chains.
      </Text>
    );
  const endpoints = networks.flatMap((one) =>
    one.endpoints.map((endpoint, at) => ({ ...endpoint, network: one.network, place: at })),
  );
  return (
    <>
      <Rows
        definition={{
          title: 'Heights',
          columns: heightColumns(stopped),
          idOf: ({ network }: RunningNetwork) => network,
        }}
        rows={networks}
        place={place}
      />
      <Section title="Endpoints">
        <Rows
          definition={{
            title: 'Endpoints',
            columns: ENDPOINT_COLUMNS,
            idOf: (one: EndpointRow) => `${one.network} ${one.place}`,
          }}
          rows={endpoints}
          place={place}
        />
      </Section>
    </>
  );
}

function Parts({ running }: { running: Running }) {
  const place = usePlace();
  const parts = partsOf(running);
  const versions = new Set(parts.flatMap(({ version }) => (version === '–' ? [] : [version])));
  return (
    <>
      {versions.size > 1 && (
        <Alert color="orange" variant="outline" title="Several versions run">
          <Text size="sm">
            That is right while you upgrade. Afterwards everything should run the same one:{' '}
            {[...versions].join(', ')}.
          </Text>
        </Alert>
      )}
      <Rows
        definition={{
          title: 'Versions',
          columns: PART_COLUMNS,
          idOf: ({ what, where }: Part) => `${what} ${where}`,
        }}
        rows={parts}
        place={place}
      />
    </>
  );
}

/** Heights, endpoints and versions. Nodes that are away are waited for, so it comes after what the page shows first. */
export function RunningParts({ stopped }: { stopped: readonly string[] }) {
  const query = useQuery({
    queryKey: ['whole', PATH],
    queryFn: ({ signal }) => call<Running>(PATH, { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={160} aria-label="Loading" />}
      {query.data !== undefined && (
        <>
          <Section title="Heights">
            <Heights networks={query.data.networks} stopped={stopped} />
          </Section>
          <Section title="Versions">
            <Parts running={query.data} />
          </Section>
        </>
      )}
    </>
  );
}
