import type { Refund } from '@florin/contract/schemas';
import { encodeId } from '../tenancy/index.ts';
import type { RefundRow } from './queries.ts';

/** Whether the payer has yet to name the address. */
export const awaitsClaim = ({ status, address }: Pick<RefundRow, 'status' | 'address'>) =>
  status === 'pending' && address === null;

/** @param claimUrl the link of an unclaimed refund; null for all others */
export function presentRefund(refund: RefundRow, claimUrl: string | null): Refund {
  return {
    refund_id: refund.own_id,
    object: 'refund',
    store_id: encodeId('store', refund.store_id),
    payment_id: encodeId('payment', refund.payment_id),
    amount: Number(refund.amount),
    currency: refund.currency,
    network: refund.network,
    address: refund.address,
    claim_url: claimUrl,
    status: refund.status,
    tx_id: refund.tx_id,
    failure_reason: refund.failure_reason,
    waiting_for: refund.waiting_for,
    reason: refund.reason,
    metadata: refund.metadata,
    created: Number(refund.created_at),
    completed_at: refund.completed_at === null ? null : Number(refund.completed_at),
    lost_at: refund.lost_at === null ? null : Number(refund.lost_at),
  };
}
