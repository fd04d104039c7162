import type { JobSpec } from '../../platform/jobs/index.ts';

interface InvoicePayment {
  merchant_id: string;
  payment_id: string;
  invoice_id: string | null;
}

/** A payment of an invoice has changed; handled by `subscriptions`; payload `{ paymentId, invoiceId }`. */
export const INVOICE_PAGE_CHANGED_JOB = 'checkout.invoice-news';

export function invoicePageChangedJob(
  { merchant_id: merchantId, payment_id: paymentId, invoice_id: invoiceId }: InvoicePayment,
  dueAtMs: number,
): JobSpec {
  const payload = { paymentId, invoiceId };
  return {
    merchantId,
    kind: INVOICE_PAGE_CHANGED_JOB,
    uniqueKey: paymentId,
    dueAtMs,
    followsClock: true,
    payload,
  };
}
