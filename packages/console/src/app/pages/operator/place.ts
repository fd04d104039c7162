import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../session.ts';

/** Routes of the installation: of no merchant. */
export const OPERATOR = '/console/api/operator';

/** Whether the person runs this installation; an auditor looks at the same pages and changes nothing. */
export const useOperates = (): boolean => useQuery(meQuery).data?.installation_role === 'operator';
