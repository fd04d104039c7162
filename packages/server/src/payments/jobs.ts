import { NETWORKS, type Network } from '@florin/contract/money';
import type { Job, JobSpec } from '../platform/jobs/index.ts';

interface InvoicePayment {
  merchant_id: string;
  payment_id: string;
  invoice_id: string | null;
}

/** Scans a network for transfers to a merchant's addresses; payload `{ network }`. */
export const SCAN_JOB = 'checkout.scan';
/** Expires an unpaid payment; payload `{ paymentId }`. */
export const EXPIRE_JOB = 'checkout.expire';

/** Requotes a payment whose money came too late for its quote; payload `{ paymentId }`. */
export const QUOTE_JOB = 'checkout.quote';

/** Coins were credited; `custody` sweeps them; payload `{ network }`. */
export const CREDITED_JOB = 'checkout.credited';

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

/** Runs in real time, not by the merchant's clock: the scan interval depends on how recently something happened. */
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

/** The network of a job with payload `{ network }`. */
export function networkOf({ kind, payload }: Pick<Job, 'kind' | 'payload'>): Network {
  const network = NETWORKS.find((known) => known === payload.network);
  if (network === undefined) throw new Error(`a ${kind} job must name a network`);
  return network;
}
