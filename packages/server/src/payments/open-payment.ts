import type { Tx } from '../platform/db/index.ts';
import { insertRows } from '../platform/db/statements/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import type { MerchantTime } from '../tenancy/index.ts';
import { expireJob } from './jobs.ts';
import { PAYMENT } from './reads/columns.ts';
import { type PaymentRow, type PaymentView, UNPAID } from './reads/queries.ts';

type NewPayment = Pick<
  PaymentRow,
  | 'merchant_id'
  | 'payment_id'
  | 'session_id'
  | 'store_id'
  | 'invoice_id'
  | 'customer'
  | 'order_id'
  | 'amount'
  | 'currency'
  | 'metadata'
  | 'expires_at'
  | 'payer_email'
>;

/** Opens the payment of a session's page; at `expires_at`, if there is one, a job expires it. */
export async function openPayment(tx: Tx, fresh: NewPayment, time: MerchantTime): Promise<PaymentView> {
  const payment: PaymentRow = {
    ...UNPAID,
    ...fresh,
    status: 'pending',
    fixed_currency: null,
    fixed_network: null,
    decline_code: null,
    wallet_address: null,
    created_at: time.seconds,
  };
  await insertRows(tx, PAYMENT, [payment]);
  const { merchant_id: merchantId, payment_id: paymentId, expires_at: expiresAt } = payment;
  if (expiresAt !== null) {
    const dueAtMs = time.realMs + (Number(expiresAt) - time.seconds) * 1000;
    await enqueue(tx, [expireJob(merchantId, paymentId, dueAtMs)]);
  }
  return { payment, options: [], transactions: [], heights: new Map() };
}
