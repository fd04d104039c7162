import { Alert, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { call, pathWith } from '../api.ts';
import { textOf } from '../form.ts';
import { Amount, Maybe, Status, Time } from '../format.tsx';
import { type Column, Rows } from '../list.tsx';
import { useFilters, usePlace } from '../place.ts';
import { Trouble } from '../trouble.tsx';

type Kind = 'payment' | 'customer' | 'refund' | 'payout' | 'subscription' | 'invoice';

interface Found {
  kind: Kind;
  id: string;
  label: string | null;
  status: string | null;
  amount: number | null;
  currency: string | null;
  created_at: number;
}

const COLUMNS: readonly Column<Found>[] = [
  { title: 'Found', cell: ({ kind }) => kind },
  { title: 'Name', cell: ({ label }) => <Maybe>{label}</Maybe> },
  {
    title: 'Amount',
    cell: ({ amount, currency }) =>
      amount === null || currency === null ? '–' : <Amount units={amount} currency={currency} />,
    isNumber: true,
  },
  { title: 'Status', cell: ({ status }) => (status === null ? '–' : <Status name={status} />) },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Id', cell: ({ id }) => id },
];

function Results({ text }: { text: string }) {
  const place = usePlace();
  const query = useQuery({
    queryKey: ['search', place, text],
    queryFn: ({ signal }) =>
      call<{ data: Found[]; cut: Kind[] }>(
        pathWith(`/console/api/merchants/${place.merchant}/stores/${place.store}/search`, { q: text }),
        { signal },
      ),
  });
  if (query.error !== null) return <Trouble error={query.error} retry={() => void query.refetch()} />;
  if (query.isPending) return <Skeleton height={120} aria-label="Loading" />;
  const { data, cut } = query.data;
  return (
    <>
      {cut.length > 0 && (
        <Alert color="orange" variant="outline" title="There may be more" role="status">
          Looking took too long among these: {cut.map((kind) => `${kind}s`).join(', ')}. Search again later,
          or by an id.
        </Alert>
      )}
      {(data.length > 0 || cut.length === 0) && <FoundRows rows={data} />}
    </>
  );
}

function FoundRows({ rows }: { rows: Found[] }) {
  const place = usePlace();
  if (rows.length === 0)
    return (
      <Text>
        Nothing of this store has this name. Names of orders and customers, e-mail addresses and addresses are
        looked for whole, amounts to the last digit; of an id its first letters are enough.
      </Text>
    );
  return (
    <Rows
      definition={{
        title: 'Found',
        columns: COLUMNS,
        idOf: ({ kind, id }) => `${kind}s/${id}`,
        linkOf: ({ kind, id }) => `${kind}s/${encodeURIComponent(id)}`,
      }}
      rows={rows}
      place={place}
    />
  );
}

/** One box for everything of a store that has a name. */
export function SearchPage() {
  const { q = '' } = useFilters();
  const navigate = useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = textOf(new FormData(event.currentTarget), 'q').trim();
    void navigate({ to: '.', search: () => (text === '' ? {} : { q: text }) });
  };
  return (
    <Stack>
      <Title order={1} size="h2">
        Search
      </Title>
      <search>
        <form onSubmit={submit}>
          <TextInput
            key={q}
            name="q"
            type="search"
            label="An id or its beginning, an order, a customer, an e-mail address, an address, a transaction, or an amount"
            description="Such as 12.50, or 12.50 USDT: payments of it, and payouts that pay it in all or to somebody."
            defaultValue={q}
            maxLength={256}
            autoComplete="off"
            data-filter
            autoFocus
          />
        </form>
      </search>
      {q !== '' && <Results text={q} />}
    </Stack>
  );
}
