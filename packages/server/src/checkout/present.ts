import type { CheckoutSession } from '@florin/contract/schemas';
import type { PaymentRow } from '../payments/reads/index.ts';
import { encodeId } from '../tenancy/index.ts';
import type { SessionRow } from './session-queries.ts';
import { sessionStatus } from './session-status.ts';

const seconds = (value: bigint | number | null) => (value === null ? null : Number(value));

export function presentSession(session: SessionRow, payment: PaymentRow, url: string): CheckoutSession {
  return {
    id: encodeId('checkoutSession', session.session_id),
    object: 'checkout.session',
    store_id: encodeId('store', session.store_id),
    amount: Number(payment.amount),
    currency: payment.currency,
    order_id: session.order_id,
    description: session.description,
    customer: payment.customer,
    customer_email: session.customer_email,
    status: sessionStatus(payment.status),
    url,
    payment_id: encodeId('payment', payment.payment_id),
    success_url: session.success_url,
    cancel_url: session.cancel_url,
    expires_at: seconds(payment.expires_at),
    metadata: payment.metadata,
    created: Number(session.created_at),
    completed_at: seconds(payment.completed_at),
  };
}
