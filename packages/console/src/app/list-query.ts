import { call, type Place, pathWith } from './api.ts';

/** A page does not request a list again that was requested so shortly before it. */
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

/** The query of a list: the same key and path for the page and for the request before it. */
export const listQuery = <T>({ path, place, filters, limit }: ListInput) => ({
  queryKey: ['list', place, path, filters],
  queryFn: ({ pageParam, signal }: { pageParam: string | undefined; signal: AbortSignal }) =>
    call<Slice<T>>(pathWith(path, { ...filters, limit, starting_after: pageParam }), { place, signal }),
  initialPageParam: undefined as string | undefined,
  staleTime: FRESH_MS,
});
