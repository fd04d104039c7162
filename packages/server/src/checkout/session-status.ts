import type { CheckoutSessionStatus, PaymentStatus } from '@florin/contract/schemas';

const SESSION_STATUS: Record<Exclude<PaymentStatus, 'failed'>, CheckoutSessionStatus> = {
  pending: 'open',
  processing: 'processing',
  completed: 'completed',
  expired: 'expired',
  cancelled: 'canceled',
  frozen: 'frozen',
};

/** The status of a payment's session. Only charges become `failed`, and they have no session. */
export function sessionStatus(status: PaymentStatus): CheckoutSessionStatus {
  return status === 'failed' ? 'canceled' : SESSION_STATUS[status];
}
