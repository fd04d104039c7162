import { Button, Group, NativeSelect, Skeleton, Stack, Text, Title } from '@mantine/core';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { call, pathWith } from '../api.ts';
import { Bars } from '../bars.tsx';
import { saveCsv } from '../csv.ts';
import { Facts, Section } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { Amount, AmountText, NETWORK_NAMES, numbered, Status, Time } from '../format.tsx';
import { type Column, Rows } from '../list.tsx';
import { PeriodPicker } from '../period.tsx';
import { useFilters, usePlace } from '../place.ts';
import { Trouble } from '../trouble.tsx';
import { type FirstSteps, FirstStepsList } from './home/first-steps.tsx';

/** The service reads every payment of the period. */
const REFRESH_MS = 300_000;

interface Day {
  day: string;
  currency: string | null;
  sessions: number;
  ended: number;
  paid: number;
  payments: number;
  volume: string;
}

/** What takes as long as there are payments in the period. */
interface Figures {
  from: string;
  to: string;
  time_zone: string;
  days: string[];
  data: Day[];
  volume: { currency: string; payments: number; amount: string }[];
  checkout: { sessions: number; ended: number; paid: number; success_percent: string | null };
  subscriptions: {
    active: number;
    trialing: number;
    past_due: number;
    monthly: { currency: string; amount: number }[];
    is_whole: boolean;
    counted_to: number;
  };
}

/** What is known at once. */
interface Overview {
  first_steps: FirstSteps;
  balances: {
    currency: string;
    available: number;
    held: number;
    payout_hold: number;
    refund_hold: number;
    seized: number;
  }[];
  webhooks: {
    endpoints: number;
    disabled: number;
    failing: number;
    pending: number;
    paused: number;
    failed: number;
    exhausted: number;
    counted_to: number;
  };
  networks: {
    network: string;
    read_at: number | null;
    stops: { what: 'sending' | 'early_credit'; stopped_at: number }[];
  }[];
}

const DAYS: readonly Column<Day>[] = [
  { title: 'Day', cell: ({ day }) => day },
  { title: 'Token', cell: ({ currency }) => currency ?? 'none chosen' },
  { title: 'Sessions', cell: ({ sessions }) => sessions, isNumber: true },
  { title: 'Over', cell: ({ ended }) => ended, isNumber: true },
  { title: 'Paid', cell: ({ paid }) => paid, isNumber: true },
  { title: 'Payments', cell: ({ payments }) => payments, isNumber: true },
  {
    title: 'Volume',
    cell: ({ volume, currency }) =>
      currency === null ? '' : <AmountText text={volume} currency={currency} />,
    isNumber: true,
  },
];

/** What stands behind both plots, as a table and as a file. */
function Days({ figures, path }: { figures: Figures; path: string }) {
  const place = usePlace();
  const [failure, setFailure] = useState<unknown>();
  const { from, to, time_zone } = figures;
  const save = () =>
    saveCsv(pathWith(path, { from, to, time_zone }), undefined, setFailure, `overview-${from}-${to}`);
  return (
    <Stack gap="xs">
      <details>
        <summary>Every day as a table</summary>
        <Rows
          definition={{ title: 'Days', columns: DAYS, idOf: ({ day, currency }) => `${day} ${currency}` }}
          rows={figures.data}
          place={place}
        />
      </details>
      <Group>
        <Button variant="default" size="xs" onClick={() => void save()}>
          Download CSV
        </Button>
      </Group>
      {failure !== undefined && <Trouble error={failure} />}
    </Stack>
  );
}

function Volume({ figures, path }: { figures: Figures; path: string }) {
  return (
    <Section title="Volume">
      <Text size="sm">What completed payments received, by the day on which they were made.</Text>
      <Facts
        facts={figures.volume.map(({ currency, payments, amount }) => [
          currency,
          <>
            <AmountText text={amount} currency={currency} /> of {numbered(payments, 'payment')}
          </>,
        ])}
      />
      {figures.volume
        .filter(({ payments }) => payments > 0)
        .map(({ currency }) => (
          <Bars
            key={currency}
            title={`${currency} by day`}
            bars={figures.days.map((label) => {
              const volume =
                figures.data.find((one) => one.day === label && one.currency === currency)?.volume ?? '0.00';
              return { label, value: Number(volume), text: `${volume} ${currency}` };
            })}
          />
        ))}
      <Days figures={figures} path={path} />
    </Section>
  );
}

function Success({ figures, path }: { figures: Figures; path: string }) {
  const { sessions, ended, paid, success_percent: percent } = figures.checkout;
  return (
    <Section title="Success of checkout">
      <Facts
        facts={[
          ['Sessions made', sessions],
          ['Over', ended],
          ['Paid', paid],
          ['Paid of those that are over', percent === null ? null : `${percent} %`],
        ]}
      />
      {ended > 0 && (
        <Bars
          title="Paid of the day's sessions that are over"
          full={100}
          bars={figures.days.map((label) => {
            const own = figures.data.filter(({ day }) => day === label);
            const of = own.reduce((sum, one) => sum + one.ended, 0);
            const value = of === 0 ? 0 : (own.reduce((sum, one) => sum + one.paid, 0) * 100) / of;
            return { label, value, text: of === 0 ? 'none is over' : `${value.toFixed(1)} %` };
          })}
        />
      )}
      <Days figures={figures} path={path} />
    </Section>
  );
}

const Balances = ({ balances }: Pick<Overview, 'balances'>) => (
  <Section title="Balance and what is held">
    <Facts
      facts={balances.flatMap(({ currency, available, held, payout_hold, refund_hold, seized }) =>
        (
          [
            ['may be spent', available],
            ['to be decided', held],
            ['reserved by payouts', payout_hold],
            ['reserved by refunds', refund_hold],
            ['seized', seized],
          ] as const
        )
          .filter(([, units], index) => index === 0 || units !== 0)
          .map(
            ([meaning, units]) =>
              [
                `${currency}, ${meaning}`,
                <Amount key={meaning} units={units} currency={currency} />,
              ] as const,
          ),
      )}
    />
    <FilteredLink folder="balances" filters={{}} />
  </Section>
);

const Subscriptions = ({ subscriptions }: Pick<Figures, 'subscriptions'>) => (
  <Section title="Subscriptions">
    {!subscriptions.is_whole && (
      <Text size="sm">There are more than {subscriptions.counted_to}: the others are not counted here.</Text>
    )}
    <Facts
      facts={[
        ['Active', subscriptions.active],
        ['In trial', subscriptions.trialing],
        ['Past due', subscriptions.past_due],
        ...subscriptions.monthly.map(
          ({ currency, amount }) =>
            [
              `A month (MRR), ${currency}`,
              <Amount key={currency} units={amount} currency={currency} />,
            ] as const,
        ),
      ]}
    />
    <FilteredLink folder="subscriptions" filters={{}} />
  </Section>
);

function Webhooks({ webhooks }: Pick<Overview, 'webhooks'>) {
  const count = (of: number) => (of >= webhooks.counted_to ? `${of} or more` : of);
  return (
    <Section title="Webhooks">
      <Facts
        facts={[
          ['Endpoints', webhooks.endpoints],
          ['Switched off', webhooks.disabled],
          ['Failing now', webhooks.failing],
          ['Deliveries under way', count(webhooks.pending)],
          ['Deliveries that wait', count(webhooks.paused)],
          ['Deliveries that failed', count(webhooks.failed)],
          ['Deliveries given up', count(webhooks.exhausted)],
        ]}
      />
    </Section>
  );
}

const STOPPED = { sending: 'nothing is sent', early_credit: 'deposits wait for final blocks' } as const;

const Networks = ({ networks }: Pick<Overview, 'networks'>) => (
  <Section title="Networks">
    <Facts
      facts={networks.map(({ network, read_at, stops }) => [
        NETWORK_NAMES[network] ?? network,
        <>
          <Status name={stops.length === 0 ? 'open' : 'stopped'} />{' '}
          {stops.map(({ what }) => STOPPED[what]).join(', ')}{' '}
          {read_at !== null && (
            <>
              read <Time at={read_at} />
            </>
          )}
        </>,
      ])}
    />
  </Section>
);

/** Days are those of this zone; the browser's own is offered beside UTC. */
function TimeZone({ shown }: { shown: string }) {
  const filters = useFilters();
  const navigate = useNavigate();
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <NativeSelect
      label="Time zone"
      size="sm"
      value={shown}
      data={[...new Set(['UTC', own, shown])]}
      onChange={({ currentTarget: { value } }) =>
        void navigate({ to: '.', search: () => ({ ...filters, time_zone: value }) })
      }
    />
  );
}

/** A part of the page, which is read by itself: one that is not there keeps no other from being shown. */
function Part<T>({
  query: { data, error, isPending, refetch },
  name,
  children,
}: {
  query: UseQueryResult<T>;
  name: string;
  children: (data: T) => ReactNode;
}) {
  return (
    <>
      {error !== null && (
        <Section title={`Not ready: ${name}`}>
          <Trouble error={error} retry={() => void refetch()} />
        </Section>
      )}
      {isPending && <Skeleton height={320} aria-label="Loading" />}
      {data !== undefined && children(data)}
    </>
  );
}

/** What the money and the servers of a store do. */
export function StoreHomePage() {
  const { merchant, store } = usePlace();
  const { from, to, time_zone } = useFilters();
  const path = `/console/api/merchants/${merchant}/stores/${store}/overview`;
  const overview = useQuery({
    queryKey: ['overview', path],
    queryFn: ({ signal }) => call<Overview>(path, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const figuresPath = `${path}/figures`;
  const figures = useQuery({
    queryKey: ['overview', figuresPath, from, to, time_zone],
    queryFn: ({ signal }) => call<Figures>(pathWith(figuresPath, { from, to, time_zone }), { signal }),
    placeholderData: (before) => before,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Stack>
      <Title order={1} size="h2">
        Home
      </Title>
      {overview.data !== undefined && <FirstStepsList steps={overview.data.first_steps} />}
      <Group align="end" gap="sm">
        <PeriodPicker shown={figures.data} zone={time_zone ?? 'UTC'} />
        <TimeZone shown={time_zone ?? 'UTC'} />
      </Group>
      <div className="tiles">
        <Part query={figures} name="volume, success of checkout and subscriptions">
          {(shown) => (
            <>
              <Volume figures={shown} path={figuresPath} />
              <Success figures={shown} path={figuresPath} />
              <Subscriptions subscriptions={shown.subscriptions} />
            </>
          )}
        </Part>
        <Part query={overview} name="balance, webhooks and networks">
          {({ balances, webhooks, networks }) => (
            <>
              <Balances balances={balances} />
              <Webhooks webhooks={webhooks} />
              <Networks networks={networks} />
            </>
          )}
        </Part>
      </div>
    </Stack>
  );
}
