import type { CheckoutSessionStatus, PaymentStatus } from '@florin/contract/schemas';

const SESSION_STATUS: Record<Exclude<PaymentStatus, 'failed'>, CheckoutSessionStatus> = {
  pending: 'open',
  processing: 'processing',
  completed: 'completed',
  expired: 'expired',
  cancelled: 'canceled',
  frozen: 'frozen',
};

/** Session and payment go in step; only charges of mandates fail, and they have no session. */
export function sessionStatus(status: PaymentStatus): CheckoutSessionStatus {
  return status === 'failed' ? 'canceled' : SESSION_STATUS[status];
}
