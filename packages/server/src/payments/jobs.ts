import type { Network } from '@florin/contract/money';
import type { JobSpec } from '../platform/jobs/index.ts';

interface InvoicePayment {
  merchant_id: string;
  payment_id: string;
  invoice_id: string | null;
}

/** Reads a network for transfers to a merchant's addresses; payload `{ network }`. */
export const SCAN_JOB = 'checkout.scan';
/** Ends a payment that nobody has paid in time; payload `{ paymentId }`. */
export const EXPIRE_JOB = 'checkout.expire';

/** Counts money at a new quote that came too late for its own; payload `{ paymentId }`. */
export const QUOTE_JOB = 'checkout.quote';

/** News for whoever looks after coins: some were credited; payload `{ network }`. */
export const CREDITED_JOB = 'checkout.credited';

/** News for whoever keeps invoices: a payment of one may stand differently; payload `{ paymentId, invoiceId }`. */
export const INVOICE_NEWS_JOB = 'checkout.invoice-news';

export function invoiceNewsJob(
  { merchant_id: merchantId, payment_id: paymentId, invoice_id: invoiceId }: InvoicePayment,
  dueAtMs: number,
): JobSpec {
  const payload = { paymentId, invoiceId };
  return {
    merchantId,
    kind: INVOICE_NEWS_JOB,
    uniqueKey: paymentId,
    dueAtMs,
    followsClock: true,
    payload,
  };
}

/** Real time: a chain is looked at as often as somebody may be paying, whatever the merchant's clock says. */
export function scanJob(merchantId: string, network: Network, dueAtMs: number): JobSpec {
  return { merchantId, kind: SCAN_JOB, uniqueKey: network, dueAtMs, payload: { network } };
}

export function expireJob(merchantId: string, paymentId: string, dueAtMs: number): JobSpec {
  const payload = { paymentId };
  return { merchantId, kind: EXPIRE_JOB, uniqueKey: paymentId, dueAtMs, followsClock: true, payload };
}

export function quoteJob(merchantId: string, paymentId: string, dueAtMs: number): JobSpec {
  const payload = { paymentId };
  return { merchantId, kind: QUOTE_JOB, uniqueKey: paymentId, dueAtMs, followsClock: true, payload };
}

export function creditedJob(merchantId: string, network: Network, dueAtMs: number): JobSpec {
  return {
    merchantId,
    kind: CREDITED_JOB,
    uniqueKey: network,
    dueAtMs,
    followsClock: true,
    payload: { network },
  };
}
