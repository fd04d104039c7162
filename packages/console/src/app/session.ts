import { queryOptions } from '@tanstack/react-query';
import { call, keepCsrfToken } from './api.ts';
import type { Me, Membership, Store } from './me.ts';

/** One word for a store: its review while that is open or was refused, else whether it is enabled. */
export const storeStatus = ({ review_status, is_open }: Store): string =>
  review_status === 'approved' ? (is_open ? 'enabled' : 'disabled') : review_status;

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => {
    const me = await call<Me>('/console/api/me', { signal });
    keepCsrfToken(me.csrf_token);
    return me;
  },
  staleTime: 60_000,
});

export const storesQuery = (merchant: string) =>
  queryOptions({
    queryKey: ['stores', merchant],
    queryFn: async ({ signal }) =>
      (await call<{ data: Store[] }>(`/console/api/merchants/${merchant}/stores`, { signal })).data,
    staleTime: 60_000,
  });

/** Whether somebody has to set their second factor up before they can do anything with a merchant. */
export const lacksFactor = (me: Me, merchant: Membership): boolean =>
  merchant.needs_second_factor && !me.second_factor;
