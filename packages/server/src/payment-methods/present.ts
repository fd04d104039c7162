import type { PaymentMethod } from '@florin/contract/schemas';
import { encodeId } from '../tenancy/index.ts';
import type { PaymentMethodRow } from './queries.ts';

const CHAIN_TYPES = { erc20: 1, trc20: 2, spl: 3 } as const;

export function presentPaymentMethod(row: PaymentMethodRow): PaymentMethod {
  return {
    id: encodeId('paymentMethod', row.payment_method_id),
    object: 'payment_method',
    customer: encodeId('customer', row.customer_id),
    merchant_id: encodeId('merchant', row.merchant_id),
    type: 'wallet_mandate',
    currency: row.currency,
    chain_type: CHAIN_TYPES[row.network],
    status: row.status,
    mandate_id: row.mandate_id,
    metadata: row.metadata,
    created: Number(row.created_at),
  };
}
