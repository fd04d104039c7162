import { queryOptions } from '@tanstack/react-query';
import { call } from './api.ts';

/** A role of a merchant, as the service lists it. */
export interface Role {
  name: string;
  permissions: string[];
  is_built_in: boolean;
  members: number;
  /** Whoever is signed in may give and take it. */
  is_assignable: boolean;
}

export const rolesPath = (merchant: string) => `/console/api/merchants/${merchant}/roles`;

interface Roles {
  data: Role[];
  /** The permissions that the signed-in person may give to a custom role. */
  givable_permissions: string[];
}

export const rolesQuery = (merchant: string) =>
  queryOptions({
    queryKey: ['roles', merchant],
    queryFn: async ({ signal }) => await call<Roles>(rolesPath(merchant), { signal }),
  });
