import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { meaningOf } from './accounts.ts';
import { call, pathWith } from './api.ts';
import { saveCsv } from './csv.ts';
import { Section } from './detail.tsx';
import { AmountText, NETWORK_NAMES } from './format.tsx';
import { type Column, Empty, Rows } from './list.tsx';
import { PeriodPicker, usePeriod } from './period.tsx';
import { usePlace } from './place.ts';
import { Trouble } from './trouble.tsx';

interface Movement {
  kind: string;
  network: string | null;
  entries: number;
  increase: string;
  decrease: string;
}

interface AccountStatement {
  account: string;
  currency: string;
  opening: string;
  movements: Movement[];
  closing: string;
}

interface StatementAnswer {
  merchant_id: string;
  merchant_name: string;
  mode: string;
  from: string;
  to: string;
  as_of: number;
  is_final: boolean;
  accounts: AccountStatement[];
}

interface Line extends Partial<Movement> {
  account: string;
  currency: string;
  kind: string;
  balance?: string;
}

const KINDS: Readonly<Record<string, string>> = {
  opening: 'Opening balance',
  payment: 'Payments',
  subscription: 'Payments of subscriptions',
  seizure: 'Seized, or given back',
  refund: 'Refunds',
  payout: 'Payouts',
  fee: 'Service fees',
  fund: 'Coins of the sandbox',
  correction: 'Corrections by the operator',
  closing: 'Closing balance',
};

const linesOf = ({ account, currency, opening, movements, closing }: AccountStatement): Line[] => [
  { account, currency, kind: 'opening', balance: opening },
  ...movements.map((movement) => ({ account, currency, ...movement })),
  { account, currency, kind: 'closing', balance: closing },
];

const isZero = (amount: string): boolean => /^0(?:\.0+)?$/.test(amount);
const amountOf = (text: string | undefined, currency: string): ReactNode =>
  text === undefined || isZero(text) ? '' : <AmountText text={text} currency={currency} />;

const COLUMNS: readonly Column<Line>[] = [
  { title: 'Movement', cell: ({ kind }) => (kind in KINDS ? KINDS[kind] : kind) },
  { title: 'Network', cell: ({ network }) => (network ? NETWORK_NAMES[network] : '') },
  { title: 'Entries', cell: ({ entries }) => entries ?? '', isNumber: true },
  { title: 'In', cell: ({ increase, currency }) => amountOf(increase, currency), isNumber: true },
  { title: 'Out', cell: ({ decrease, currency }) => amountOf(decrease, currency), isNumber: true },
  {
    title: 'Balance',
    cell: ({ balance, currency }) =>
      balance === undefined ? '' : <AmountText text={balance} currency={currency} />,
    isNumber: true,
  },
];

const idOf = ({ kind, network }: Line) => `${kind} ${network ?? ''}`;

function Accounts({ accounts }: { accounts: readonly AccountStatement[] }) {
  const place = usePlace();
  return accounts.map((one) => {
    const title = `${meaningOf(one.account)}: ${one.account}, ${one.currency}`;
    return (
      <Section key={title} title={title}>
        <Rows definition={{ title, columns: COLUMNS, idOf }} rows={linesOf(one)} place={place} />
      </Section>
    );
  });
}

/** UTC, because a printed page does not show the browser's time zone. */
const utcText = (seconds: number) =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}`;

const Head = ({ statement }: { statement: StatementAnswer }) => (
  <Text>
    {statement.merchant_name}
    {statement.mode === 'sandbox' && ' (sandbox: no real money)'}, all of its stores. From {statement.from}{' '}
    00:00:00 to {statement.to} 23:59:59, UTC, read {utcText(statement.as_of)}.{' '}
    {!statement.is_final && <strong>Not final: the period is not over, or ended within the hour.</strong>}
  </Text>
);

interface StatementProps {
  merchant: string;
  back: ReactNode;
  /** Makes a first row in a sandbox. */
  example?: string | undefined;
}

/** Opening balance, movements and closing balance of each account of a merchant, to be read, printed and kept as a file. */
export function Statement({ merchant, back, example }: StatementProps) {
  const { given } = usePeriod();
  const [failure, setFailure] = useState<unknown>();
  const path = `/console/api/merchants/${merchant}/statement`;
  const query = useQuery({
    queryKey: ['statement', merchant, given],
    queryFn: ({ signal }) => call<StatementAnswer>(pathWith(path, { ...given }), { signal }),
    placeholderData: (before) => before,
    refetchOnWindowFocus: false,
  });
  const { data } = query;
  // Of the period before, until this one is there.
  const isShown = query.isSuccess && !query.isPlaceholderData;
  const name = data && `statement-${data.merchant_id}-${data.from}-${data.to}`;
  const save = () =>
    data && saveCsv(pathWith(path, { from: data.from, to: data.to }), undefined, setFailure, name);
  return (
    <Stack>
      <div className="no-print">{back}</div>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Statement
        </Title>
        <Group gap="xs" className="no-print">
          <Button variant="default" size="sm" onClick={() => window.print()} disabled={!isShown}>
            Print
          </Button>
          <Button variant="default" size="sm" onClick={() => void save()} disabled={!isShown}>
            Download CSV
          </Button>
        </Group>
      </Group>
      <PeriodPicker shown={data} />
      {failure !== undefined && <Trouble error={failure} />}
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={240} aria-label="Loading" />}
      {query.isSuccess && data !== undefined && (
        <>
          <Head statement={data} />
          {data.accounts.length === 0 && <Nothing example={example} />}
          <Accounts accounts={data.accounts} />
        </>
      )}
    </Stack>
  );
}

const Nothing = ({ example }: Pick<StatementProps, 'example'>) => {
  const text = 'No account held or moved anything in this period. Choose another one.';
  if (example === undefined) return <Text>{text}</Text>;
  return (
    <Empty empty={{ text: `${text} In a sandbox, a payment makes the first movement:`, command: example }} />
  );
};
