import { Alert, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, pathWith } from '../../api.ts';
import { Facts, Section } from '../../detail.tsx';
import { CopyId, IsoTime, NETWORK_NAMES, Status, wordsOf } from '../../format.tsx';
import { type Column, Rows } from '../../list.tsx';
import { useFilters, usePlace } from '../../place.ts';
import { ShowMore } from '../../show-more.tsx';
import { Trouble } from '../../trouble.tsx';
import { OPERATOR } from './place.ts';

const PATH = `${OPERATOR}/treasury`;

interface UnderWay {
  kind: string;
  count: number;
}

interface Tank {
  network: string;
  coin: string;
  is_set_up: boolean;
  state: 'ok' | 'low' | 'not_read' | 'none';
  tank: { address: string; amount: string; read_at: string | null } | null;
  floor: string;
  floor_setting: string;
  stake: { staked: string; lent: string; floor: string; floor_setting: string } | null;
  under_way: UnderWay[];
}

interface Held {
  address: string | null;
  amount: string | null;
  USDT: string | null;
  USDC: string | null;
}

interface Wallet extends Held {
  merchant_id: string;
  name: string;
  status: string;
  rotated: (Held & { trouble: string | null })[];
  ceiling: string;
  ceiling_setting: string;
  unswept_USDT: string;
  unswept_USDC: string;
  under_way: UnderWay[];
  read_at: string | null;
  trouble: string | null;
}

const nameOf = (network: string) => NETWORK_NAMES[network] ?? network;

const KINDS: Record<string, string> = {
  gas: 'top-ups',
  lend: 'loans of energy',
  unlend: 'loans taken back',
  sweep: 'sweeps',
  payment: 'payments',
  charge: 'charges',
};
const movesOf = (moves: readonly UnderWay[]): string =>
  moves.map(({ kind, count }) => `${count} ${KINDS[kind] ?? wordsOf(kind)}`).join(', ') || 'nothing';

const nativeOf = (amount: string, coin: string) => `${amount} ${coin}`;

/** What is wrong with a gas tank, a sentence each. */
function troublesOf({ network, coin, state, floor, stake, tank: held }: Tank): string[] {
  if (held === null) return [];
  const name = `The gas tank of ${nameOf(network)}`;
  if (state === 'not_read')
    return [
      `${name} was not read for 15 minutes: its node or all workers are away. What it holds now is not known.`,
    ];
  const troubles: string[] = [];
  if (state === 'low')
    troubles.push(
      `${name} is below its floor: send it ${coin}, to ${floor} at least. Payouts and sweeps wait for it.`,
    );
  if (stake !== null && Number(stake.staked) < Number(stake.floor))
    troubles.push(
      `${name} has staked less than ${stake.floor} ${coin} (${stake.floor_setting}): sweeps burn ${coin} instead.`,
    );
  return troubles;
}

function TankAlarm({ tank }: { tank: Tank }) {
  return troublesOf(tank).map((trouble) => (
    <Alert key={trouble} color="red" variant="outline" role="alert" title="Look at this">
      <Text size="sm">{trouble}</Text>
    </Alert>
  ));
}

function TankSection({ tank }: { tank: Tank }) {
  const { network, coin, is_set_up: isSetUp, state, tank: held, floor, floor_setting: setting, stake } = tank;
  if (!isSetUp && held === null)
    return (
      <Section title={nameOf(network)}>
        <Text>This installation has no node for real money on {nameOf(network)}.</Text>
      </Section>
    );
  return (
    <Section title={nameOf(network)}>
      <TankAlarm tank={tank} />
      <Facts
        facts={[
          ['Gas tank', <Status key="state" name={state === 'none' ? 'no account yet' : state} />],
          ['Address to refill', held && <CopyId key="address" id={held.address} />],
          ['Holds', held && nativeOf(held.amount, coin)],
          ['Read', held && <IsoTime key="read" at={held.read_at} />],
          ['Floor', `${nativeOf(floor, coin)} (${setting})`],
          ...(stake === null
            ? []
            : [
                ['Staked for energy', `${nativeOf(stake.staked, coin)}, ${stake.lent} of it lent`] satisfies [
                  string,
                  string,
                ],
              ]),
          ['On its way', movesOf(tank.under_way)],
          [
            'Hot wallets',
            <Link key="wallets" to="/operator/treasury" search={{ network }}>
              Hot wallets on {nameOf(network)}
            </Link>,
          ],
        ]}
      />
    </Section>
  );
}

/** A hot wallet, or one of before. */
type Row = Wallet & { isRotated: boolean };

const rowsOf = (wallet: Wallet): Row[] => [
  { ...wallet, isRotated: false },
  ...wallet.rotated.map((held) => ({ ...wallet, ...held, isRotated: true })),
];

const columnsFor = (coin: string): Column<Row>[] => [
  {
    title: 'Merchant',
    cell: ({ name, status }) => (
      <>
        {name}
        {status !== 'active' && (
          <Text size="xs" c="var(--plain)">
            {status}
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Hot wallet',
    cell: ({ address, isRotated }) => (
      <>
        {address === null ? '–' : <CopyId id={address} isShort />}
        {isRotated && (
          <Text size="xs" c="var(--plain)">
            rotated: emptied into the present one
          </Text>
        )}
      </>
    ),
  },
  {
    title: `For fees (${coin})`,
    cell: ({ amount, ceiling, trouble, read_at, isRotated }) => (
      <>
        {amount ?? 'not read'}
        {!isRotated && ` of ${ceiling}`}
        <Text size="xs" c="var(--plain)">
          {trouble === null ? (
            <>
              read <IsoTime at={read_at} />
            </>
          ) : (
            trouble
          )}
        </Text>
      </>
    ),
  },
  { title: 'USDT', cell: ({ USDT }) => USDT ?? 'not read', isNumber: true },
  { title: 'USDC', cell: ({ USDC }) => USDC ?? 'not read', isNumber: true },
  {
    title: 'USDT not swept',
    cell: ({ unswept_USDT, isRotated }) => (isRotated ? '–' : unswept_USDT),
    isNumber: true,
  },
  {
    title: 'USDC not swept',
    cell: ({ unswept_USDC, isRotated }) => (isRotated ? '–' : unswept_USDC),
    isNumber: true,
  },
  { title: 'On its way', cell: ({ under_way, isRotated }) => (isRotated ? '–' : movesOf(under_way)) },
];

/** Read from the node when the page is opened, and not by the clock. */
function Wallets({ network, coin }: { network: string; coin: string }) {
  const place = usePlace();
  const path = `${PATH}/${network}/wallets`;
  const query = useInfiniteQuery({
    queryKey: ['wallets', path],
    queryFn: ({ pageParam, signal }) =>
      call<{ data: Wallet[]; next: string | null }>(pathWith(path, { after: pageParam }), { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const rows = query.data?.pages.flatMap(({ data }) => data.flatMap(rowsOf)) ?? [];
  const title = `Hot wallets on ${nameOf(network)}`;
  return (
    <Section title={title}>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={160} aria-label="Loading" />}
      {query.isSuccess && rows.length === 0 && (
        <Text>No live merchant has a wallet on {nameOf(network)} yet: florin networks enable opens one.</Text>
      )}
      {rows.length > 0 && (
        <Rows
          definition={{
            title,
            columns: columnsFor(coin),
            idOf: ({ merchant_id, address }) => `${merchant_id} ${address}`,
          }}
          rows={rows}
          place={place}
        />
      )}
      <ShowMore pages={query} />
    </Section>
  );
}

/** The wallets of real money: what they hold, against their floors and ceilings. */
export function TreasuryPage() {
  const { network } = useFilters();
  const query = useQuery({
    queryKey: ['whole', PATH],
    queryFn: ({ signal }) => call<{ data: Tank[] }>(PATH, { signal }),
    refetchInterval: 15_000,
  });
  const tanks = query.data?.data ?? [];
  const chosen = tanks.find((tank) => tank.network === network);
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Treasury
        </Title>
      </Group>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={240} aria-label="Loading" />}
      {tanks.map((tank) => (
        <TankSection key={tank.network} tank={tank} />
      ))}
      {chosen !== undefined && <Wallets key={chosen.network} network={chosen.network} coin={chosen.coin} />}
    </Stack>
  );
}
