import { formatAmount } from '@florin/contract/money';
import type { PayoutBatch, PayoutItem } from '@florin/contract/schemas';
import { encodeId } from '../tenancy/index.ts';
import type { BatchRow, ItemRow } from './queries.ts';
import { mayEdit } from './states.ts';

const seconds = (value: bigint | number | null) => (value === null ? null : Number(value));

export function presentBatch(row: BatchRow): PayoutBatch {
  return {
    batch_id: encodeId('payoutBatch', row.batch_id),
    status: row.status,
    currency: row.currency,
    network: row.network,
    total_count: row.total_count,
    valid_count: row.valid_count,
    invalid_count: row.invalid_count,
    success_count: row.success_count,
    failed_count: row.failed_count,
    total_amount: formatAmount(row.total_amount),
    service_fee_amount: formatAmount(row.service_fee_amount),
    debit_amount: formatAmount(row.debit_amount),
    frozen_amount: formatAmount(row.frozen_amount),
    charged_service_fee_amount: formatAmount(row.charged_service_fee_amount),
    ...(row.status === 'canceled' ? {} : { can_submit: mayEdit(row.status) && row.invalid_count === 0 }),
    validation_errors: row.validation_errors,
    description: row.description,
    created_at: Number(row.created_at),
    submitted_at: seconds(row.submitted_at),
    completed_at: seconds(row.completed_at),
  };
}

export function presentItem(row: ItemRow): PayoutItem {
  return {
    item_id: encodeId('payoutItem', row.item_id),
    batch_id: encodeId('payoutBatch', row.batch_id),
    index: row.index,
    real_name: row.real_name,
    network: row.network,
    address: row.address,
    memo: row.memo,
    amount: formatAmount(row.amount),
    service_fee_amount: formatAmount(row.service_fee_amount),
    status: row.status,
    validation_errors: row.validation_errors,
    tx_id: row.tx_id,
    failure_code: row.failure_code,
    failure_message: row.failure_message,
    created_at: Number(row.created_at),
    completed_at: seconds(row.completed_at),
    lost_at: seconds(row.lost_at),
  };
}
