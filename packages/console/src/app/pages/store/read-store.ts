import { useQuery } from '@tanstack/react-query';
import { call } from '../../api.ts';
import type { Store } from '../../me.ts';
import { usePlace } from '../../place.ts';

const REFRESH_MS = 10_000;

/** How a store presents itself to payers. */
export interface Brand {
  name: string;
  accent: string | null;
  support: string | null;
  terms: string | null;
  logo_id: string | null;
}

/** Where payers reach a store, as people write it. */
export const supportText = (support: string | null): string | undefined => support?.replace(/^mailto:/, '');

/** A store with all that its merchant reads of it. */
export interface WholeStore extends Store, Brand {
  payment_methods: { token: string; network: string }[];
  rules: { name: string; description: string; value: string }[];
}

/** The path of the store's routes. */
export function useStorePath(): string {
  const { merchant, store } = usePlace();
  return `/console/api/merchants/${merchant}/stores/${store}`;
}

export const storeKey = (path: string) => ['one', path];

/** The store of the address, read again while its page is open. */
export function useStore() {
  const path = useStorePath();
  return useQuery({
    queryKey: storeKey(path),
    queryFn: ({ signal }) => call<WholeStore>(path, { signal }),
    refetchInterval: REFRESH_MS,
  });
}
