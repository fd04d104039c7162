import type { Customer } from '@florin/contract/schemas';
import { encodeId } from '../platform/ids.ts';
import type { CustomerRow } from './queries.ts';

export function presentCustomer(row: CustomerRow): Customer {
  const { email, name, phone, description } = row;
  return {
    id: encodeId('customer', row.customer_id),
    object: 'customer',
    merchant_id: encodeId('merchant', row.merchant_id),
    external_customer_id: row.external_customer_id,
    ...(email === null ? {} : { email }),
    ...(name === null ? {} : { name }),
    ...(phone === null ? {} : { phone }),
    ...(description === null ? {} : { description }),
    created: Number(row.created_at),
  };
}
