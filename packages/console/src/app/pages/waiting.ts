import type { PayoutBatch, Refund } from '@florin/contract/schemas';
import { useQuery } from '@tanstack/react-query';
import { call } from '../api.ts';
import { useMay, usePlace } from '../place.ts';

const REFRESH_MS = 10_000;

interface Waiting {
  payout_batches: PayoutBatch[];
  refunds: Refund[];
}

/** What waits for approval at the merchant of the page; nothing is asked for those who do not decide. */
export function useWaiting() {
  const place = usePlace();
  return useQuery({
    queryKey: ['approvals', place],
    queryFn: ({ signal }) =>
      call<Waiting>(`/console/api/merchants/${place.merchant}/approvals`, { place, signal }),
    refetchInterval: REFRESH_MS,
    enabled: useMay('approve'),
  });
}
