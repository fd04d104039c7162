import { LEDGER_ACCOUNTS } from '@florin/contract/ledger-accounts';
import { NETWORKS } from '@florin/contract/money';
import type { Balance, Balances, LedgerEntry } from '@florin/contract/schemas';
import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { meaningOf } from '../accounts.ts';
import { call } from '../api.ts';
import { Section } from '../detail.tsx';
import { FilteredLink } from '../filtered-link.tsx';
import { Amount, CopyId, Time } from '../format.tsx';
import { type Column, List, type ListDefinition, Rows } from '../list.tsx';
import { usePlace } from '../place.ts';
import { ResourceLink } from '../resource-link.tsx';
import { Trouble } from '../trouble.tsx';

const REFRESH_MS = 10_000;

interface Line {
  account: string;
  units: number;
  currency: string;
}

/** What is owed to the merchant or to others, and where the coins are that cover it. */
function linesOf(balance: Balance): Line[] {
  const { currency, custody, custody_hold } = balance;
  const line = (account: string, units: number) => ({ account, units, currency });
  return [
    line('available', balance.available),
    line('held', balance.held),
    line('payout_hold', balance.payout_hold),
    line('refund_hold', balance.refund_hold),
    line('seized', balance.seized),
    line('fees', balance.fees),
    line('network_cost', balance.network_cost),
    ...NETWORKS.flatMap((network) => [
      line(`custody:${network}`, custody[network]),
      line(`custody_hold:${network}`, custody_hold[network]),
    ]),
  ];
}

const LINES: readonly Column<Line>[] = [
  { title: 'Account', cell: ({ account }) => meaningOf(account) },
  {
    title: 'Amount',
    cell: ({ units, currency }) => <Amount units={units} currency={currency} />,
    isNumber: true,
  },
  {
    title: 'Entries',
    cell: ({ account, currency }) => (
      <FilteredLink folder="ledger" filters={{ account, currency }}>
        {account}
      </FilteredLink>
    ),
  },
];

/** What the merchant has, account by account, of every store together. */
export function BalancesPage() {
  const place = usePlace();
  const query = useQuery({
    queryKey: ['balances', place.merchant],
    queryFn: ({ signal }) => call<Balances>('/api/v1/balances', { place, signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Balances
        </Title>
        <Button
          component={Link}
          to={`/${place.merchant}/${place.store}/balances/statement`}
          variant="default"
          size="sm"
        >
          Statement of a period
        </Button>
      </Group>
      <Text>Of the whole merchant. The ledger has the entries behind each line.</Text>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={240} aria-label="Loading" />}
      {query.data?.data.map((balance) => (
        <Section key={balance.currency} title={balance.currency}>
          <Rows
            definition={{ title: balance.currency, columns: LINES, idOf: ({ account }) => account }}
            rows={linesOf(balance)}
            place={place}
          />
        </Section>
      ))}
    </Stack>
  );
}

/** The pages of what causes entries; items of payouts have none of their own. */
const FOLDERS: Readonly<Record<string, string>> = {
  payment: 'payments',
  payout_batch: 'payouts',
  refund: 'refunds',
};

function Cause({ cause: { type, id } }: Pick<LedgerEntry, 'cause'>) {
  const folder = FOLDERS[type];
  return folder === undefined ? <CopyId id={id} isShort /> : <ResourceLink folder={folder} id={id} />;
}

const ENTRIES: ListDefinition<LedgerEntry> = {
  title: 'Ledger',
  path: '/api/v1/ledger_entries',
  idOf: ({ id }) => id,
  columns: [
    { title: 'Booked', cell: ({ created }) => <Time at={created} isExact /> },
    {
      title: 'Amount',
      isNumber: true,
      cell: ({ amount, currency }) => <Amount units={amount} currency={currency} />,
    },
    { title: 'Debit', cell: ({ debit }) => debit },
    { title: 'Credit', cell: ({ credit }) => credit },
    { title: 'Cause', cell: (entry) => <Cause cause={entry.cause} /> },
    { title: 'Journal', cell: ({ journal_id }) => <CopyId id={journal_id} isShort /> },
  ],
  filters: [
    { name: 'cause', label: 'Cause' },
    { name: 'account', label: 'Account', options: LEDGER_ACCOUNTS },
    { name: 'currency', label: 'Currency', options: ['USDT', 'USDC'] },
  ],
  empty: {
    text: 'Nothing was booked yet: payments and payouts make the first entries. In a sandbox:',
    command: 'npx florin checkout create 12.50 USD',
  },
};

/** Every entry of the merchant's ledger: it is only ever added to. */
export const LedgerPage = () => <List definition={ENTRIES} />;
