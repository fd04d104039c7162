import { Alert, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api.ts';
import { Facts, Section } from '../../detail.tsx';
import { CopyId, IsoTime, NETWORK_NAMES, numbered, Status, wordsOf } from '../../format.tsx';
import { type Column, Rows } from '../../list.tsx';
import { usePlace } from '../../place.ts';
import { Trouble } from '../../trouble.tsx';
import { OPERATOR } from './place.ts';

interface Counted {
  status: string;
  count: number;
}

interface NetworkState {
  network: string;
  stops: {
    what: 'sending' | 'early_credit';
    merchant_id: string | null;
    stopped_at: string | null;
    reason: string;
  }[];
  tank: { address: string; amount: string; coin: string; read_at: string | null } | null;
  addresses_left: number | null;
  refunds_short: number;
}

interface Installation {
  at: string | null;
  workers: number;
  history_changed: boolean;
  networks: NetworkState[];
  transfers: Counted[];
  oldest_queued_at: string | null;
  undecided: (Counted & { oldest_at: string | null })[];
  approvals_waiting: { payouts: number; refunds: number };
  deliveries: Counted[];
  jobs: { kind: string; waiting: number; late: number; failing: number }[];
  imbalances: { currency: string; amount: string }[];
  last_comparison: { at: string | null; differences: number; unseen: number; surpluses: number } | null;
}

const isZero = (amount: string): boolean => /^-?0+(?:\.0+)?$/.test(amount);
const countsOf = (counted: readonly Counted[]): string =>
  counted.map(({ status, count }) => `${count} ${wordsOf(status)}`).join(', ');

/** What somebody has to look at, in the order in which money is in danger. */
function alarmsOf(state: Installation): string[] {
  const unbalanced = state.imbalances.filter(({ amount }) => !isZero(amount));
  const comparison = state.last_comparison;
  const stopped = state.networks.flatMap(({ network, stops }) => stops.map((stop) => ({ network, ...stop })));
  const late = state.jobs.reduce((sum, one) => sum + one.late, 0);
  return [
    ...unbalanced.map(({ currency, amount }) => `The ledger does not balance by ${amount} ${currency}.`),
    ...(comparison !== null && comparison.differences > 0
      ? [
          `The last comparison with the chains found ${numbered(comparison.differences, 'difference')}: florin ledger verify says more.`,
        ]
      : []),
    ...(state.history_changed
      ? ['Payouts wait: this database is a copy, or another copy of it sends. florin doctor says what to do.']
      : []),
    ...stopped.map(({ network, what, reason, merchant_id }) =>
      what === 'sending'
        ? `Nothing is sent on ${network}${merchant_id === null ? '' : ` for ${merchant_id}`}: ${reason}. Examine the cause, then resume it on the page Networks.`
        : `Deposits on ${network} wait for final blocks: ${reason}.`,
    ),
    ...(state.workers === 0 ? ['No worker runs: nothing is sent, credited or delivered.'] : []),
    ...(late > 0
      ? [`${numbered(late, 'job')} ${late === 1 ? 'is' : 'are'} late by more than 5 seconds.`]
      : []),
  ];
}

const NETWORK_COLUMNS: readonly Column<NetworkState>[] = [
  { title: 'Network', cell: ({ network }) => NETWORK_NAMES[network] ?? network },
  { title: 'State', cell: ({ stops }) => <Status name={stops.length === 0 ? 'open' : 'stopped'} /> },
  {
    title: 'Gas tank',
    cell: ({ tank }) =>
      tank === null ? (
        '–'
      ) : (
        <>
          {tank.amount} {tank.coin} <CopyId id={tank.address} isShort />
          <Text size="xs" c="var(--plain)">
            read <IsoTime at={tank.read_at} />
          </Text>
        </>
      ),
  },
  { title: 'Addresses left', cell: ({ addresses_left }) => addresses_left ?? '–', isNumber: true },
  { title: 'Refunds short of coins', cell: ({ refunds_short }) => refunds_short, isNumber: true },
];

type JobKind = Installation['jobs'][number];
const JOB_COLUMNS: readonly Column<JobKind>[] = [
  { title: 'Job', cell: ({ kind }) => kind },
  { title: 'Waiting', cell: ({ waiting }) => waiting, isNumber: true },
  { title: 'Late', cell: ({ late }) => late, isNumber: true },
  { title: 'Failing', cell: ({ failing }) => failing, isNumber: true },
];

function LedgerFacts({ state }: { state: Installation }) {
  const comparison = state.last_comparison;
  return (
    <Facts
      facts={[
        ...state.imbalances.map(
          ({ currency, amount }) =>
            [`${currency}: owed less held`, isZero(amount) ? '0 (it balances)' : amount] as const,
        ),
        [
          'Compared with the chains',
          comparison === null ? 'not yet: florin ledger verify' : <IsoTime key="at" at={comparison.at} />,
        ],
        ...(comparison === null
          ? []
          : ([
              ['Differences', comparison.differences],
              ['Not seen', comparison.unseen],
              ['Surpluses', comparison.surpluses],
            ] as const)),
      ]}
    />
  );
}

function State({ state }: { state: Installation }) {
  const place = usePlace();
  const alarms = alarmsOf(state);
  return (
    <>
      {alarms.length === 0 && (
        <Alert color="green" variant="outline" title="Nothing needs you">
          <Text size="sm">
            As of <IsoTime at={state.at} />; {numbered(state.workers, 'worker runs', 'workers run')}.
          </Text>
        </Alert>
      )}
      {alarms.map((alarm) => (
        <Alert key={alarm} color="red" variant="outline" role="alert" title="Look at this">
          <Text size="sm">{alarm}</Text>
        </Alert>
      ))}
      <Section title="Networks">
        <Rows
          definition={{ title: 'Networks', columns: NETWORK_COLUMNS, idOf: ({ network }) => network }}
          rows={state.networks}
          place={place}
        />
      </Section>
      <Section title="Ledger">
        <LedgerFacts state={state} />
      </Section>
      <Section title="Money under way">
        <Facts
          facts={[
            ['Transfers', countsOf(state.transfers)],
            ['Oldest without a transaction', <IsoTime key="queued" at={state.oldest_queued_at} />],
            ['Transactions not decided', countsOf(state.undecided)],
            ['Payouts that wait for approval', state.approvals_waiting.payouts],
            ['Refunds that wait for approval', state.approvals_waiting.refunds],
            ['Webhooks not delivered', countsOf(state.deliveries)],
          ]}
        />
      </Section>
      <Section title="Jobs">
        <Rows
          definition={{ title: 'Jobs', columns: JOB_COLUMNS, idOf: ({ kind }) => kind }}
          rows={state.jobs}
          place={place}
        />
      </Section>
    </>
  );
}

/** Whether money moves as it should, everywhere. */
export function HealthPage() {
  const query = useQuery({
    queryKey: ['installation'],
    queryFn: ({ signal }) => call<Installation>(`${OPERATOR}/installation`, { signal }),
    refetchInterval: 10_000,
  });
  return (
    <Stack>
      <Title order={1} size="h2">
        Health
      </Title>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={320} aria-label="Loading" />}
      {query.data !== undefined && <State state={query.data} />}
    </Stack>
  );
}
