import { Button, Group, NativeSelect, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
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

interface Overview {
  from: string;
  to: string;
  time_zone: string;
  days: string[];
  data: Day[];
  volume: { currency: string; payments: number; amount: string }[];
  checkout: { sessions: number; ended: number; paid: number; success_percent: string | null };
  first_steps: FirstSteps;
  subscriptions: {
    active: number;
    trialing: number;
    past_due: number;
    monthly: { currency: string; amount: number }[];
  };
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
function Days({ overview, path }: { overview: Overview; path: string }) {
  const place = usePlace();
  const [failure, setFailure] = useState<unknown>();
  const { from, to, time_zone } = overview;
  const save = () =>
    saveCsv(pathWith(path, { from, to, time_zone }), undefined, setFailure, `overview-${from}-${to}`);
  return (
    <Stack gap="xs">
      <details>
        <summary>Every day as a table</summary>
        <Rows
          definition={{ title: 'Days', columns: DAYS, idOf: ({ day, currency }) => `${day} ${currency}` }}
          rows={overview.data}
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

function Volume({ overview, path }: { overview: Overview; path: string }) {
  return (
    <Section title="Volume">
      <Text size="sm">What completed payments received, by the day on which they were made.</Text>
      <Facts
        facts={overview.volume.map(({ currency, payments, amount }) => [
          currency,
          <>
            <AmountText text={amount} currency={currency} /> of {numbered(payments, 'payment')}
          </>,
        ])}
      />
      {overview.volume
        .filter(({ payments }) => payments > 0)
        .map(({ currency }) => (
          <Bars
            key={currency}
            title={`${currency} by day`}
            bars={overview.days.map((label) => {
              const volume =
                overview.data.find((one) => one.day === label && one.currency === currency)?.volume ?? '0.00';
              return { label, value: Number(volume), text: `${volume} ${currency}` };
            })}
          />
        ))}
      <Days overview={overview} path={path} />
    </Section>
  );
}

function Success({ overview, path }: { overview: Overview; path: string }) {
  const { sessions, ended, paid, success_percent: percent } = overview.checkout;
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
          bars={overview.days.map((label) => {
            const own = overview.data.filter(({ day }) => day === label);
            const of = own.reduce((sum, one) => sum + one.ended, 0);
            const value = of === 0 ? 0 : (own.reduce((sum, one) => sum + one.paid, 0) * 100) / of;
            return { label, value, text: of === 0 ? 'none is over' : `${value.toFixed(1)} %` };
          })}
        />
      )}
      <Days overview={overview} path={path} />
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

const Subscriptions = ({ subscriptions }: Pick<Overview, 'subscriptions'>) => (
  <Section title="Subscriptions">
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

/** What the money and the servers of a store do. */
export function StoreHomePage() {
  const { merchant, store } = usePlace();
  const { from, to, time_zone } = useFilters();
  const path = `/console/api/merchants/${merchant}/stores/${store}/overview`;
  const query = useQuery({
    queryKey: ['overview', path, from, to, time_zone],
    queryFn: ({ signal }) => call<Overview>(pathWith(path, { from, to, time_zone }), { signal }),
    placeholderData: (before) => before,
    refetchInterval: REFRESH_MS,
  });
  const { data } = query;
  return (
    <Stack>
      <Title order={1} size="h2">
        Home
      </Title>
      {data !== undefined && <FirstStepsList steps={data.first_steps} />}
      <Group align="end" gap="sm">
        <PeriodPicker shown={data} zone={time_zone ?? 'UTC'} />
        <TimeZone shown={time_zone ?? 'UTC'} />
      </Group>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={320} aria-label="Loading" />}
      {data !== undefined && (
        <div className="tiles">
          <Volume overview={data} path={path} />
          <Success overview={data} path={path} />
          <Balances balances={data.balances} />
          <Subscriptions subscriptions={data.subscriptions} />
          <Webhooks webhooks={data.webhooks} />
          <Networks networks={data.networks} />
        </div>
      )}
    </Stack>
  );
}
