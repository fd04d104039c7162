import { Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call, pathWith } from './api.ts';
import { type Column, Empty, Rows } from './list.tsx';
import { usePlace } from './place.ts';
import { ShowMore } from './show-more.tsx';
import { Trouble } from './trouble.tsx';

const REFRESH_MS = 15_000;

interface WholeListProps<T> {
  title: string;
  /** Of the console's own routes, which answer all rows at once, or pages of them. */
  path: string;
  filters?: Record<string, string> | undefined;
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

/** A list of the console's own. */
export function WholeList<T>({
  title,
  path,
  filters,
  idOf,
  columns,
  fits,
  actions,
  notice,
  empty,
}: WholeListProps<T>) {
  const place = usePlace();
  const query = useInfiniteQuery({
    queryKey: ['whole', path, filters],
    queryFn: ({ pageParam, signal }) =>
      call<{ data: T[]; has_more?: boolean }>(pathWith(path, { ...filters, starting_after: pageParam }), {
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ data, has_more }) => {
      const last = data.at(-1);
      return has_more === true && last !== undefined ? idOf(last) : undefined;
    },
    refetchInterval: REFRESH_MS,
  });
  const all = query.data?.pages.flatMap(({ data }) => data) ?? [];
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
      <ShowMore pages={query} />
    </Stack>
  );
}
