import { queryOptions } from '@tanstack/react-query';
import { ApiError, call, hasEnded, keepCsrfToken, PageError } from './api.ts';
import type { Me, Membership, Store } from './me.ts';

/** One word for a store: its review while that is open or was refused, else whether it is enabled. */
export const storeStatus = ({ review_status, is_open }: Store): string =>
  review_status === 'approved' ? (is_open ? 'enabled' : 'disabled') : review_status;

/** Somebody else has signed in, in another tab: what stands on this page is not theirs to send. */
export class SomebodyElse extends Error {
  readonly email: string;

  constructor(email: string) {
    super(`${email} is signed in`);
    this.email = email;
  }
}

const AGAIN_MS = 5_000;

/** After a failure of the service it is read again every 5 s; a refusal is an answer. */
const againAfterFailure = ({ state: { error } }: { state: { error: Error | null } }) =>
  error === null || (error instanceof ApiError && error.status < 500) ? false : AGAIN_MS;

/** Who is signed in. After a failure it is read again every 5 s; the last answer stays. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ client, signal }): Promise<Me> => {
    const me = await call<Me>('/console/api/me', { signal });
    const before = client.getQueryData<Me>(['me']);
    if (before !== undefined && before.user_id !== me.user_id) throw new SomebodyElse(me.email);
    keepCsrfToken(me.csrf_token);
    return me;
  },
  staleTime: 60_000,
  retry: false,
  refetchInterval: ({ state }) => (state.error === null ? false : AGAIN_MS),
});

export const storesQuery = (merchant: string) =>
  queryOptions({
    queryKey: ['stores', merchant],
    queryFn: async ({ signal }) =>
      (await call<{ data: Store[] }>(`/console/api/merchants/${merchant}/stores`, { signal })).data,
    staleTime: 60_000,
    refetchInterval: againAfterFailure,
  });

/** Whether a failure may mean that the session has ended or the service is away: other refusals are answers to what was asked. */
export const isOfConnection = (error: Error): boolean =>
  error instanceof ApiError ? hasEnded(error) || error.status >= 502 : !(error instanceof PageError);

/** A merchant whose pages an operator or auditor opens without a role there. */
export const visitQuery = (merchant: string) =>
  queryOptions({
    queryKey: ['visit', merchant],
    queryFn: ({ signal }) =>
      call<Pick<Membership, 'merchant_id' | 'name' | 'mode'>>(`/console/api/operator/merchants/${merchant}`, {
        signal,
      }),
    staleTime: 60_000,
    refetchInterval: againAfterFailure,
  });

/** Whether somebody has to set their second factor up before they can do anything with a merchant. */
export const lacksFactor = (me: Me, merchant: Membership): boolean =>
  merchant.needs_second_factor && !me.second_factor;
