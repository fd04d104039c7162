import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../session.ts';

/** Routes of the installation: of no merchant. */
export const OPERATOR = '/console/api/operator';

/** Whether the person has the role operator. Auditors see the same pages and change nothing. */
export const useOperates = (): boolean => useQuery(meQuery).data?.installation_role === 'operator';
