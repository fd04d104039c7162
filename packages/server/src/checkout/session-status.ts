import type { CheckoutSessionStatus, PaymentStatus } from '@florin/contract/schemas';
import { keysOf } from '@florin/contract/tables';

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

const PAYMENT_STATUS = new Map(keysOf(SESSION_STATUS).map((status) => [SESSION_STATUS[status], status]));

/** The status of the payment behind a session in this one. */
export const paymentStatusOf = (status: CheckoutSessionStatus) => PAYMENT_STATUS.get(status);
