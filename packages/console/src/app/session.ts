import { queryOptions } from '@tanstack/react-query';
import { call, keepCsrfToken } from './api.ts';

export interface Membership {
  merchant_id: string;
  name: string;
  mode: 'sandbox' | 'live';
  role: string;
  permissions: string[];
  needs_second_factor: boolean;
}

/** Who is signed in. */
export interface Me {
  user_id: string;
  email: string;
  csrf_token: string;
  installation_role: string | null;
  second_factor: boolean;
  merchants: Membership[];
}

export interface Store {
  store_id: string;
  name: string;
  is_enabled: boolean;
}

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
