import { call, type Place, pathWith } from './api.ts';

/** A list that was asked for before its page was there is not asked for again when the page comes. */
const FRESH_MS = 2_000;

interface Slice<T> {
  data: T[];
  has_more: boolean;
}

interface ListInput {
  path: string;
  place: Place;
  filters: Record<string, string>;
  limit: number;
}

/** The pages of a list, as its page and whoever is ahead of it ask for them. */
export const listQuery = <T>({ path, place, filters, limit }: ListInput) => ({
  queryKey: ['list', place, path, filters],
  queryFn: ({ pageParam, signal }: { pageParam: string | undefined; signal: AbortSignal }) =>
    call<Slice<T>>(pathWith(path, { ...filters, limit, starting_after: pageParam }), { place, signal }),
  initialPageParam: undefined as string | undefined,
  staleTime: FRESH_MS,
});
