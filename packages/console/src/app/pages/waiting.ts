import type { PayoutBatch, Refund } from '@florin/contract/schemas';
import { useQuery } from '@tanstack/react-query';
import { call } from '../api.ts';
import { useMay, usePlace } from '../place.ts';

const REFRESH_MS = 10_000;

interface Waiting {
  /** The merchant's time, in Unix seconds. */
  now: number;
  /** Those that end first at the beginning. */
  payout_batches: (PayoutBatch & Ending)[];
  refunds: (Refund & Ending)[];
  /** More wait than are shown. */
  has_more: boolean;
  /** Approved, and not paid before somebody signs again whose signature counts no more. */
  payout_batches_to_sign: PayoutBatch[];
  refunds_to_sign: Refund[];
}

export interface Ending {
  /** When it is rejected or canceled, unless it is approved. */
  ends_at: number;
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
