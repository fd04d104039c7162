import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import type { Place } from './api.ts';
import type { Membership } from './me.ts';
import { meQuery, visitQuery } from './session.ts';

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

interface Access {
  /** Undefined while it is read, and where the person has no role that opens this merchant. */
  membership: Membership | undefined;
  /** By a role of the installation alone. */
  isVisit: boolean;
  /** The visit is being read. */
  isPending: boolean;
  /** Why the visit was refused. */
  error: Error | null;
}

/** What a person may do with a merchant: by their role there, else by that of the installation. */
export function useAccess(merchant: string): Access {
  const me = useQuery(meQuery);
  const own = me.data?.merchants.find(({ merchant_id }) => merchant_id === merchant);
  const role = me.data?.installation_role ?? null;
  const isVisit = own === undefined && role !== null && merchant !== '';
  const visit = useQuery({ ...visitQuery(merchant), enabled: isVisit && me.data?.second_factor === true });
  if (!isVisit) return { membership: own, isVisit, isPending: false, error: null };
  const permissions = me.data?.installation_permissions ?? [];
  const membership = visit.data && {
    ...visit.data,
    role,
    permissions,
    needs_second_factor: true,
    own_roles: [],
  };
  return {
    membership,
    isVisit,
    isPending: visit.isLoading,
    error: membership === undefined ? visit.error : null,
  };
}

/** The merchant of the address, as the person's role opens it. */
export const useMembership = (): Membership | undefined => useAccess(usePlace().merchant).membership;

/** Whether the person may do something here. The service asks again; a page only leaves out what would be refused. */
export function useMay(permission: string): boolean {
  return useMembership()?.permissions.includes(permission) ?? false;
}

/** Whether the person may use the helpers of a sandbox here: clock, chains and wallets of payers. */
export function useSandbox(): boolean {
  const mayUse = useMay('use_sandbox');
  return useMembership()?.mode === 'sandbox' && mayUse;
}
