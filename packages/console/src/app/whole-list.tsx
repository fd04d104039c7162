import { Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from './api.ts';
import { type Column, Empty, Rows } from './list.tsx';
import { usePlace } from './place.ts';
import { Trouble } from './trouble.tsx';

const REFRESH_MS = 15_000;

interface WholeListProps<T> {
  title: string;
  /** Of the console's own routes, which answer all rows at once. */
  path: string;
  idOf: (row: T) => string;
  columns: readonly Column<T>[];
  /** Which rows are shown; without, all. */
  fits?: (row: T) => boolean;
  /** Beside the title. */
  actions?: ReactNode;
  /** Above the rows. */
  notice?: ReactNode;
  empty: string | { text: string; command: string };
}

/** A list of the console's own that is short enough to be read at once. */
export function WholeList<T>({
  title,
  path,
  idOf,
  columns,
  fits,
  actions,
  notice,
  empty,
}: WholeListProps<T>) {
  const place = usePlace();
  const query = useQuery({
    queryKey: ['whole', path],
    queryFn: ({ signal }) => call<{ data: T[] }>(path, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const all = query.data?.data ?? [];
  const rows = fits === undefined ? all : all.filter(fits);
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {title}
        </Title>
        <Group gap="xs">{actions}</Group>
      </Group>
      {notice}
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={240} aria-label="Loading" />}
      {query.isSuccess &&
        rows.length === 0 &&
        (typeof empty === 'string' ? <Text>{empty}</Text> : <Empty empty={empty} />)}
      {rows.length > 0 && <Rows definition={{ title, columns, idOf }} rows={rows} place={place} />}
    </Stack>
  );
}
