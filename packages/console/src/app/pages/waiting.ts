import type { PayoutBatch, Refund } from '@florin/contract/schemas';
import { useQuery } from '@tanstack/react-query';
import { call } from '../api.ts';
import { useMay, usePlace } from '../place.ts';

const REFRESH_MS = 10_000;

interface Waiting {
  payout_batches: PayoutBatch[];
  refunds: Refund[];
  /** More wait than are shown. */
  has_more: boolean;
}

/** Payouts and refunds of the merchant that wait for approval. People who may not approve send no request for them. */
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
