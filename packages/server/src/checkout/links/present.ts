import type { PaymentLink } from '@florin/contract/schemas';
import { encodeId } from '../../tenancy/index.ts';
import { linkToken } from './link-token.ts';
import type { LinkRow } from './queries.ts';

/** @param publicUrl the base URL of payers' pages */
export function presentLink(row: LinkRow, publicUrl: string): PaymentLink {
  return {
    id: encodeId('paymentLink', row.link_id),
    object: 'payment_link',
    store_id: encodeId('store', row.store_id),
    url: `${publicUrl}/pay/${linkToken(row)}`,
    amount: row.amount === null ? null : Number(row.amount),
    open: row.amount === null,
    currency: row.currency,
    description: row.description,
    active: row.active,
    created: Number(row.created_at),
  };
}
