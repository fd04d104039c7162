import { type PageLanguage, pageLanguageOf, priceText } from '@florin/pages';
import { invoicePages } from '../checkout/index.ts';
import { readCustomer } from '../customers/index.ts';
import { findInvoice } from '../invoices/index.ts';
import { type NewMail, queueMail } from '../mail/index.ts';
import { defaultPaymentMethods } from '../payment-methods/index.ts';
import { readPayment } from '../payments/reads/index.ts';
import type { Db } from '../platform/db/index.ts';
import type { Job, JobOutcome, JobRun, JobSpec } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { encodeId, merchantTime } from '../tenancy/index.ts';
import type { SubscriptionDeps } from './deps.ts';
import { SUBSCRIBE_PATH, subscribeToken } from './page-token.ts';
import { findSubscription, type SubscriptionRow } from './queries.ts';

/** Mails a customer about a subscription; payload `{ subscriptionId, kind, invoiceId }`. */
export const MAIL_JOB = 'subscriptions.mail';

const KINDS = ['subscription_begun', 'payment_failed', 'subscription_canceled'] as const;
type SubscriptionMail = (typeof KINDS)[number];

/** What a customer hears of a change; undefined: nothing. */
function mailOf(before: SubscriptionRow, after: SubscriptionRow): SubscriptionMail | undefined {
  if (before.status === after.status) return undefined;
  const hadBegun = before.status !== 'incomplete';
  switch (after.status) {
    case 'trialing':
    case 'active':
      return hadBegun ? undefined : 'subscription_begun';
    case 'past_due':
      return 'payment_failed';
    case 'canceled':
      return hadBegun ? 'subscription_canceled' : undefined;
    case 'incomplete':
    case 'incomplete_expired':
      return undefined;
  }
}

/** The job that mails the customer about a change, if it is one of those. */
export function mailJobs(before: SubscriptionRow, after: SubscriptionRow, dueAtMs: number): JobSpec[] {
  const kind = mailOf(before, after);
  const { merchant_id: merchantId, subscription_id: subscriptionId, latest_invoice_id: invoiceId } = after;
  if (kind === undefined) return [];
  const payload = { subscriptionId, kind, invoiceId };
  return [{ merchantId, kind: MAIL_JOB, uniqueKey: `${subscriptionId} ${kind}`, dueAtMs, payload }];
}

/** Handles `MAIL_JOB`. A customer without an address gets none. */
export async function mailSubscription(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { db } = deps;
  const { merchantId, payload } = job;
  const kind = KINDS.find((known) => known === payload.kind);
  const row = await findSubscription(db, merchantId, String(payload.subscriptionId));
  if (row === undefined || kind === undefined) return 'done';
  const customer = await readCustomer(db, { merchantId, customerId: row.customer_id }, defaultPaymentMethods);
  if (customer?.email === undefined) return 'done';
  const invoiceId = typeof payload.invoiceId === 'string' ? payload.invoiceId : null;
  const invoice = invoiceId === null ? undefined : await findInvoice(db, merchantId, invoiceId);
  const due = kind === 'payment_failed' && invoice !== undefined ? invoice.amount_due : row.amount;
  const about = encodeId('subscription', row.subscription_id);
  const language = await languageOf(db, merchantId, invoice?.page_payment_id ?? null);
  const amount = priceText(due, row.currency, language);
  const page =
    kind === 'payment_failed' ? await openPageOf(db, merchantId, invoice?.session_id ?? null) : null;
  const mail: NewMail = {
    kind,
    about,
    cause: kind === 'payment_failed' ? `${about} ${invoiceId}` : about,
    to: customer.email,
    language,
    values: { amount },
    rows: { amount, ...(row.description !== null && { description: row.description }) },
    link: page ?? { to: 'subscription', path: `${SUBSCRIBE_PATH}/${subscribeToken(row)}` },
  };
  const time = merchantTime(deps, await getMerchant(db, merchantId));
  await run.finish((tx) => queueMail(tx, { merchantId, storeId: row.store_id }, time, mail));
  return 'done';
}

/** The language in which the invoice's page was last read. */
async function languageOf(db: Db, merchantId: string, paymentId: string | null): Promise<PageLanguage> {
  const payment = paymentId === null ? undefined : (await readPayment(db, merchantId, paymentId)).payment;
  return pageLanguageOf(payment?.payer_language);
}

async function openPageOf(db: Db, merchantId: string, sessionId: string | null): Promise<NewMail['link']> {
  const page = sessionId === null ? undefined : await invoicePages.readInvoicePage(db, merchantId, sessionId);
  return page?.state === 'open' ? { to: 'pay', path: `/checkout/${page.token}` } : null;
}
