import type { RefundFailure } from '@florin/contract/schemas';
import { recordEvent, resourceOf } from '../events/index.ts';
import { post } from '../ledger/index.ts';
import { moveRefundable } from '../payments/books/index.ts';
import type { Tx } from '../platform/db/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';
import { mailRefund } from './mail-refund.ts';
import { paidPostings, releasePostings } from './postings.ts';
import { presentRefund } from './present.ts';
import { type LockedRefund, type RefundRow, releaseQuota, updateRefund } from './queries.ts';
import { balanceOf, type End, endedAmounts } from './states.ts';

/** How a refund ends. */
export type Outcome =
  | { status: 'succeeded'; txId: string | null }
  | { status: 'failed'; reason: RefundFailure; txId: string | null }
  | { status: 'canceled' };

/** The refunded transfer; null: the payment's own money. */
export function sourceOf({ source_tx_id: txId, source_index: index, network }: RefundRow) {
  return txId === null || index === null ? null : { network, txId, index };
}

/**
 * Ends a refund once: its money is paid, or returns to the balance that holds the payment's money now. The caller holds the
 * payment's lock.
 */
export async function endRefund(
  tx: Tx,
  { refund, view }: LockedRefund,
  outcome: Outcome,
  time: MerchantTime,
): Promise<RefundRow> {
  const { merchant_id: merchantId, amount } = refund;
  const { status } = outcome;
  const transfer = sourceOf(refund);
  const balance = balanceOf(view.payment.status, transfer !== null);
  const isPaid = status === 'succeeded';
  if (!isPaid) await releaseQuota(tx, refund);
  await moveRefundable(tx, view.payment, transfer, endedAmounts(status, amount, balance));
  const postings = isPaid
    ? paidPostings(refund)
    : releasePostings(refund, balance, refund.status === 'processing');
  await post(tx, merchantId, postings, time.seconds);
  const after = await updateRefund(tx, refund, {
    status,
    waiting_for: null,
    completed_at: time.seconds,
    ...('txId' in outcome ? { tx_id: outcome.txId } : {}),
    ...('reason' in outcome ? { failure_reason: outcome.reason } : {}),
  });
  await recordRefund(tx, { before: refund, after, type: END_EVENTS[status] }, time);
  if (isPaid) await mailRefund(tx, { refund: after, payment: view.payment }, { kind: 'refund_paid' }, time);
  return after;
}

type RefundEvent = 'refund.succeeded' | 'refund.failed' | 'refund.updated';

const END_EVENTS: Record<End, RefundEvent> = {
  succeeded: 'refund.succeeded',
  failed: 'refund.failed',
  canceled: 'refund.updated',
};

/** Records the event of a refund, without the claim link: its holder decides where the money goes. */
export async function recordRefund(
  tx: Tx,
  { before, after, type }: { before: RefundRow; after: RefundRow; type: RefundEvent },
  time: MerchantTime,
): Promise<void> {
  await recordEvent(tx, {
    merchantId: after.merchant_id,
    storeId: after.store_id,
    livemode: time.livemode,
    type,
    resource: resourceOf('refund', after.own_id),
    before: presentRefund(before, null),
    after: presentRefund(after, null),
    nowSeconds: time.seconds,
    nowMs: time.realMs,
  });
}
