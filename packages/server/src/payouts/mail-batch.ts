import { tokensText } from '@florin/pages';
import { queueMail } from '../mail/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { encodeId, type MerchantTime } from '../tenancy/index.ts';
import type { BatchRow } from './queries.ts';

/** Mails the merchant's people about a batch that waits for them, or of which items failed. */
export async function mailBatch(
  tx: Tx,
  batch: BatchRow,
  kind: 'payout_waiting' | 'payout_failed',
  time: MerchantTime,
): Promise<void> {
  const { merchant_id: merchantId, store_id: storeId, description } = batch;
  const about = encodeId('payoutBatch', batch.batch_id);
  const amount = tokensText(batch.total_amount, batch.currency);
  const count = String(kind === 'payout_failed' ? batch.failed_count : batch.total_count);
  await queueMail(tx, { merchantId, storeId }, time, {
    kind,
    about,
    values: { amount, batch: about, count, approvals: String(batch.required_approvals) },
    rows: { amount, ...(description !== null && { description }) },
    link: { to: 'console', page: `payouts/${about}` },
  });
}
