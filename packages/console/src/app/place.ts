import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import type { Place } from './api.ts';
import type { Membership } from './me.ts';
import { meQuery } from './session.ts';

/** The merchant and store of the address. */
export function usePlace(): Place {
  const { merchant = '', store = '' }: { merchant?: string; store?: string } = useParams({ strict: false });
  return { merchant, store };
}

/** The last part of the address: which one is shown. */
export function useId(): string {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  return id;
}

/** The filters of a list: texts of the address. */
export function useFilters(): Record<string, string> {
  const search: Record<string, unknown> = useSearch({ strict: false });
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** The merchant of the address, as the person's membership has it. */
export function useMembership(): Membership | undefined {
  const { merchant } = usePlace();
  return useQuery(meQuery).data?.merchants.find(({ merchant_id }) => merchant_id === merchant);
}

/** Whether the person may do something here. The service asks again; a page only leaves out what would be refused. */
export function useMay(permission: string): boolean {
  return useMembership()?.permissions.includes(permission) ?? false;
}

/** Whether the person may use the helpers of a sandbox here: clock, chains and wallets of payers. */
export function useSandbox(): boolean {
  const mayUse = useMay('use_sandbox');
  return useMembership()?.mode === 'sandbox' && mayUse;
}
