import {
  Button,
  Code,
  Group,
  NativeSelect,
  Skeleton,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { PAGE } from './ahead.ts';
import { type Place, pathWith } from './api.ts';
import { saveCsv } from './csv.ts';
import { wordsOf } from './format.tsx';
import { useKeys } from './keyboard.ts';
import { listQuery } from './list-query.ts';
import { useFilters, usePlace } from './place.ts';
import { RouteLink } from './route-link.tsx';
import { ShowMore } from './show-more.tsx';
import { Trouble } from './trouble.tsx';
import { useViews, Views } from './views.tsx';

/** The most that the API gives at once. */
const ONE_PAGE = 100;
const REFRESH_MS = 10_000;

export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  isNumber?: boolean;
}

export interface Filter {
  /** The name of the API's parameter. */
  name: string;
  label: string;
  /** Without: free text. */
  options?: readonly string[];
  /** A time: Unix seconds in the address, the browser's own zone in the field. */
  isTime?: boolean;
}

/** When the rows of a list were made: parameters of the API's lists. */
export const MADE: readonly Filter[] = [
  { name: 'created[gte]', label: 'Created from', isTime: true },
  { name: 'created[lt]', label: 'Created before', isTime: true },
];

/** The order of a list: it stands in the address beside the filters, and leaves no row out. */
const SORT = 'sort';
const OLDEST_FIRST = 'created';

/** A list of the API, as data: its page is made of it. */
export interface ListDefinition<T> {
  title: string;
  path: string;
  idOf: (row: T) => string;
  columns: readonly Column<T>[];
  filters: readonly Filter[];
  /** The folder of the pages of its rows, such as `payments`; without, they have none. */
  folder?: string;
  /** `sandbox`: what makes a first row there. */
  empty: { text: string; command: string; sandbox?: ReactNode };
  /** The API answers one page alone, without a next one. */
  hasOnePage?: boolean;
}

const useRows = <T,>(
  { path, idOf, hasOnePage = false }: Pick<ListDefinition<T>, 'path' | 'idOf' | 'hasOnePage'>,
  place: Place,
  filters: Record<string, string>,
) =>
  useInfiniteQuery({
    ...listQuery<T>({ path, place, filters, limit: hasOnePage ? ONE_PAGE : PAGE }),
    getNextPageParam: ({ data, has_more }) => {
      const last = data.at(-1);
      return !hasOnePage && has_more && last !== undefined ? idOf(last) : undefined;
    },
    refetchInterval: REFRESH_MS,
  });

/** What a field of a filter holds, as the API takes it. */
const typed = ({ value }: HTMLInputElement, isTime: boolean): string =>
  isTime && value !== '' ? String(Math.floor(new Date(value).getTime() / 1000)) : value.trim();

/** Unix seconds as a field for times shows them: in the zone of the browser, without it. */
function localTimeOf(seconds: string | undefined): string {
  const at = new Date(Number(seconds) * 1000);
  if (seconds === undefined || Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Fields of what a list is filtered by; they stand in its address. */
export function Filters({
  filters,
  given,
  set,
  children,
}: {
  filters: readonly Filter[];
  given: Record<string, string>;
  set: (name: string, value: string) => void;
  /** Beside the fields. */
  children?: ReactNode;
}) {
  return (
    <Group align="end" gap="sm" role="search" className="filters">
      {filters.map(({ name, label, options, isTime = false }) =>
        options === undefined ? (
          <TextInput
            key={`${name} ${given[name] ?? ''}`}
            data-filter={isTime ? undefined : true}
            type={isTime ? 'datetime-local' : 'text'}
            label={label}
            size="sm"
            defaultValue={isTime ? localTimeOf(given[name]) : (given[name] ?? '')}
            onKeyDown={(event) => event.key === 'Enter' && set(name, typed(event.currentTarget, isTime))}
            onBlur={(event) => set(name, typed(event.currentTarget, isTime))}
          />
        ) : (
          <NativeSelect
            key={name}
            label={label}
            size="sm"
            value={given[name] ?? ''}
            onChange={(event) => set(name, event.currentTarget.value)}
            data={[
              { value: '', label: 'all' },
              ...options.map((value) => ({ value, label: wordsOf(value) })),
            ]}
          />
        ),
      )}
      {children}
    </Group>
  );
}

export const NothingFits = ({ clear }: { clear: () => void }) => (
  <Group>
    <Text>Nothing fits these filters.</Text>
    <Button variant="default" size="xs" onClick={clear}>
      Clear filters
    </Button>
  </Group>
);

/** What comes first. */
const Sort = ({ sort, set }: { sort: string | undefined; set: (sort: string) => void }) => (
  <NativeSelect
    label="Sort"
    size="sm"
    value={sort === OLDEST_FIRST ? sort : ''}
    onChange={(event) => set(event.currentTarget.value)}
    data={[
      { value: '', label: 'newest first' },
      { value: OLDEST_FIRST, label: 'oldest first' },
    ]}
  />
);

/** What is shown in the place of a list's first row, and how that is made. */
export const Empty = ({ empty: { text, command, sandbox } }: { empty: ListDefinition<never>['empty'] }) => (
  <Stack gap="xs">
    <Text>{text}</Text>
    <Code block className="curl">
      {command}
    </Code>
    {sandbox}
  </Stack>
);

interface RowsProps<T> {
  definition: Pick<ListDefinition<T>, 'title' | 'columns' | 'idOf' | 'folder'> & {
    /** Where a row leads, below the store, where rows of several folders are listed. */
    linkOf?: (row: T) => string;
  };
  rows: readonly T[];
  /** The row that the keyboard is at. */
  selected?: number;
  place: Place;
}

/** The table of a list: on a phone each row is a card. */
export function Rows<T>({
  definition: {
    title,
    columns,
    idOf,
    folder,
    linkOf = folder === undefined ? undefined : (row) => `${folder}/${encodeURIComponent(idOf(row))}`,
  },
  rows,
  selected = -1,
  place,
}: RowsProps<T>) {
  return (
    <Table className="list" aria-label={title} highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => (
            <Table.Th key={column.title} className={column.isNumber ? 'number' : undefined}>
              {column.title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row, index) => (
          // Plain elements with Mantine's classes: a list has hundreds of cells, and each `Table.Td` resolves its styles anew.
          <tr
            key={idOf(row)}
            className={Table.classes.tr}
            aria-selected={index === selected || undefined}
            data-row
            data-with-row-border
            data-hover
          >
            {columns.map((column, at) => (
              <td
                key={column.title}
                data-label={column.title}
                className={`${Table.classes.td}${column.isNumber ? ' number' : ''}`}
              >
                {at === 0 && linkOf !== undefined ? (
                  <RouteLink to={`/${place.merchant}/${place.store}/${linkOf(row)}`} data-open>
                    {column.cell(row)}
                  </RouteLink>
                ) : (
                  column.cell(row)
                )}
              </td>
            ))}
          </tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** The rows of a list that can be walked through with the keyboard. The same one stays selected where others come above it. */
export function useSelection(ids: readonly string[]) {
  const [selectedId, setSelectedId] = useState<string>();
  const selected = selectedId === undefined ? -1 : ids.indexOf(selectedId);
  const box = useRef<HTMLDivElement>(null);
  const move = (by: number) => {
    const next = Math.min(Math.max(selected + by, 0), ids.length - 1);
    setSelectedId(ids[next]);
    box.current?.querySelectorAll('[data-row]')[next]?.scrollIntoView({ block: 'nearest' });
  };
  const links = () => box.current?.querySelectorAll<HTMLElement>('[data-open]');
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const focused = document.activeElement;
      // Of a button or link that has the focus Enter is its own.
      if (focused instanceof HTMLElement && focused.matches('a, button')) focused.click();
      else links()?.[selected]?.click();
    },
    '/': () => box.current?.querySelector<HTMLElement>('input[data-filter], select')?.focus(),
  });
  return { selected, box };
}

/** A list with filters in its address. */
export function List<T>({ definition, actions }: { definition: ListDefinition<T>; actions?: ReactNode }) {
  const place = usePlace();
  const filters = useFilters();
  const navigate = useNavigate();
  const query = useRows(definition, place, filters);
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const { selected, box } = useSelection(rows.map(definition.idOf));
  const [failure, setFailure] = useState<unknown>();
  const isFiltered = Object.keys(filters).some((name) => name !== SORT);
  const show = (search: Record<string, string>) => void navigate({ to: '.', search: () => search });
  const set = (name: string, value: string) => {
    if (value === (filters[name] ?? '')) return;
    const { [name]: _, ...others } = filters;
    show(value === '' ? others : { ...others, [name]: value });
  };
  const views = useViews(definition.path);
  const columns = definition.columns.filter(({ title }, at) => at === 0 || !views.hidden.includes(title));
  const exportAll = () => saveCsv(pathWith(definition.path, filters), place, setFailure);
  return (
    <Stack ref={box}>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {definition.title}
        </Title>
        <Group gap="xs">
          {actions}
          <Views
            own={views}
            columns={definition.columns.map(({ title }) => title)}
            filters={filters}
            show={show}
          />
          <Button variant="default" size="sm" onClick={() => void exportAll()} disabled={rows.length === 0}>
            Download CSV
          </Button>
        </Group>
      </Group>
      <Filters filters={definition.filters} given={filters} set={set}>
        <Sort sort={filters[SORT]} set={(sort) => set(SORT, sort)} />
      </Filters>
      {failure !== undefined && <Trouble error={failure} />}
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={240} aria-label="Loading" />}
      {query.isSuccess && rows.length === 0 && !isFiltered && <Empty empty={definition.empty} />}
      {query.isSuccess && rows.length === 0 && isFiltered && <NothingFits clear={() => show({})} />}
      {rows.length > 0 && (
        <Rows definition={{ ...definition, columns }} rows={rows} selected={selected} place={place} />
      )}
      {definition.hasOnePage === true && query.data?.pages[0]?.has_more === true && (
        <Text size="sm">
          The first {ONE_PAGE} are shown. Choose when they were made to see others; the CSV has all that fit.
        </Text>
      )}
      <ShowMore pages={query} />
    </Stack>
  );
}
