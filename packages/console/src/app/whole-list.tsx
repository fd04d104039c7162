import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { call, pathWith } from './api.ts';
import { saveCsv } from './csv.ts';
import { type Column, Empty, Rows, useSelection } from './list.tsx';
import { usePlace } from './place.ts';
import { ShowMore } from './show-more.tsx';
import { Trouble } from './trouble.tsx';

const REFRESH_MS = 15_000;

interface Answer<T> {
  data: T[];
  has_more?: boolean;
  /** People who can decide about the rows, where two have to. */
  operators?: number;
}

interface WholeListProps<T> {
  title: string;
  /** Of the console's own routes, which answer all rows at once, or pages of them. */
  path: string;
  filters?: Record<string, string> | undefined;
  idOf: (row: T) => string;
  /** The value of `starting_after` for the page after a row; by default its id. */
  cursorOf?: (row: T) => string;
  columns: readonly Column<T>[];
  /** Beside the title. */
  actions?: ReactNode;
  /** Above the rows. */
  notice?: ReactNode;
  /** Below that, while only one person can decide about what two have to. */
  alone?: ReactNode;
  empty: string | { text: string; command: string };
}

/** A list of the console's own. */
export function WholeList<T>({
  title,
  path,
  filters,
  idOf,
  cursorOf = idOf,
  columns,
  actions,
  notice,
  alone,
  empty,
}: WholeListProps<T>) {
  const place = usePlace();
  const query = useInfiniteQuery({
    queryKey: ['whole', path, filters],
    queryFn: ({ pageParam, signal }) =>
      call<Answer<T>>(pathWith(path, { ...filters, starting_after: pageParam }), {
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ data, has_more }) => {
      const last = data.at(-1);
      return has_more === true && last !== undefined ? cursorOf(last) : undefined;
    },
    refetchInterval: REFRESH_MS,
  });
  const operators = query.data?.pages.at(-1)?.operators;
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const { selected, box } = useSelection(rows.map(idOf));
  const [failure, setFailure] = useState<unknown>();
  const exportAll = () => saveCsv(pathWith(path, filters ?? {}), undefined, setFailure);
  return (
    <Stack ref={box}>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {title}
        </Title>
        <Group gap="xs">
          {actions}
          <Button variant="default" size="sm" onClick={() => void exportAll()} disabled={rows.length === 0}>
            Download CSV
          </Button>
        </Group>
      </Group>
      {failure !== undefined && <Trouble error={failure} />}
      {notice}
      {operators !== undefined && operators < 2 && alone}
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={240} aria-label="Loading" />}
      {query.isSuccess &&
        rows.length === 0 &&
        (typeof empty === 'string' ? <Text>{empty}</Text> : <Empty empty={empty} />)}
      {rows.length > 0 && (
        <Rows definition={{ title, columns, idOf }} rows={rows} selected={selected} place={place} />
      )}
      <ShowMore pages={query} />
    </Stack>
  );
}
