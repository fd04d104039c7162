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

const PAYMENT_STATUS = new Map(
  Object.entries(SESSION_STATUS).map(([status, session]) => [session, status as PaymentStatus]),
);

/** The status of the payment behind a session in this one. */
export const paymentStatusOf = (status: CheckoutSessionStatus) => PAYMENT_STATUS.get(status);
