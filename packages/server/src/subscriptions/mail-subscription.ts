import {
  dayText,
  NETWORK_NAMES,
  type PageLanguage,
  pageLanguageOf,
  priceText,
  tokensText,
} from '@florin/pages';
import { invoicePages } from '../checkout/index.ts';
import { customerLanguage, customersWithEmail, readCustomer } from '../customers/index.ts';
import { findInvoice, type InvoiceRow } from '../invoices/index.ts';
import { type NewMail, queueMail } from '../mail/index.ts';
import { defaultPaymentMethods } from '../payment-methods/index.ts';
import { readPayment } from '../payments/reads/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import type { Job, JobOutcome, JobRun, JobSpec } from '../platform/jobs/index.ts';
import { getMerchant } from '../stores/index.ts';
import { encodeId, type MerchantTime, merchantTime } from '../tenancy/index.ts';
import type { SubscriptionDeps } from './deps.ts';
import { SUBSCRIBE_PATH, subscribeToken } from './page-token.ts';
import { findSubscription, type SubscriptionRow } from './queries.ts';
import { renewalMailJobs } from './renewal-mail-job.ts';
import { isFinal } from './states.ts';

/** Mails a customer about a subscription; payload `{ subscriptionId, kind, invoiceId, paymentId }`. */
export const MAIL_JOB = 'subscriptions.mail';

const KINDS = [
  'subscription_begun',
  'payment_failed',
  'subscription_ending',
  'subscription_canceled',
  'receipt',
] as const;
type SubscriptionMail = (typeof KINDS)[number];

/** A written change of a subscription. */
export interface MailedChange {
  before: SubscriptionRow;
  after: SubscriptionRow;
  /** The charge that has paid an invoice. */
  paid: { invoiceId: string; paymentId: string } | undefined;
  time: MerchantTime;
}

/** What a customer hears of a change; undefined: nothing. */
function mailOf({ before, after, time }: MailedChange): SubscriptionMail | undefined {
  const hadBegun = before.status !== 'incomplete';
  if (before.status === after.status) {
    const { cancel_at: endsAt } = after;
    const isEnding = endsAt !== null && endsAt !== before.cancel_at && endsAt > time.seconds;
    return hadBegun && isEnding ? 'subscription_ending' : undefined;
  }
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

/** The jobs that mail the customers of one merchant about changes, for each change; none where a customer has no address. */
export async function mailJobs(tx: Tx, changes: readonly MailedChange[]): Promise<JobSpec[][]> {
  const jobs = changes.map(jobsOf);
  const mailed = changes.filter((_, i) => jobs[i]?.length !== 0).map(({ after }) => after);
  const [first] = mailed;
  if (first === undefined) return jobs;
  const ids = mailed.map((row) => row.customer_id);
  const reachable = await customersWithEmail(tx, first.merchant_id, ids);
  return jobs.map((specs, i) => (reachable.has(changes[i]?.after.customer_id ?? '') ? specs : []));
}

function jobsOf(change: MailedChange): JobSpec[] {
  const { before, after, paid, time } = change;
  const { merchant_id: merchantId, subscription_id: subscriptionId, latest_invoice_id: invoiceId } = after;
  const kind = mailOf(change);
  const mails = [
    ...(kind === undefined ? [] : [{ kind, invoiceId, paymentId: null }]),
    ...(paid === undefined ? [] : [{ kind: 'receipt', ...paid }]),
  ];
  return [
    ...mails.map((mail) => ({
      merchantId,
      kind: MAIL_JOB,
      uniqueKey: `${subscriptionId} ${mail.kind} ${mail.kind === 'subscription_ending' ? after.cancel_at : mail.invoiceId}`,
      dueAtMs: time.realMs,
      payload: { subscriptionId, ...mail },
    })),
    ...renewalMailJobs(before, after, time),
  ];
}

/** Handles `MAIL_JOB`. */
export async function mailSubscription(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { db } = deps;
  const { merchantId, payload } = job;
  const kind = KINDS.find((known) => known === payload.kind);
  const row = await findSubscription(db, merchantId, String(payload.subscriptionId));
  if (row === undefined || kind === undefined) return 'done';
  // The customer kept the subscription, or it has ended meanwhile.
  if (kind === 'subscription_ending' && (row.cancel_at === null || isFinal(row.status))) return 'done';
  const to = await emailOf(db, row);
  if (to === undefined) return 'done';
  const invoiceId = typeof payload.invoiceId === 'string' ? payload.invoiceId : null;
  const invoice = invoiceId === null ? undefined : await findInvoice(db, merchantId, invoiceId);
  const language = await languageOf(db, row, invoice?.page_payment_id ?? null);
  const content =
    kind === 'receipt'
      ? await receiptOf(db, row, String(payload.paymentId))
      : await noticeOf(db, row, { kind, invoice, language });
  const time = merchantTime(deps, await getMerchant(db, merchantId));
  const mail = { kind, to, language, ...content };
  await run.finish((tx) => queueMail(tx, { merchantId, storeId: row.store_id }, time, mail));
  return 'done';
}

type Content = Pick<NewMail, 'about' | 'cause' | 'values' | 'rows' | 'link'>;

/** The receipt of a charge. */
async function receiptOf(db: Db, row: SubscriptionRow, paymentId: string): Promise<Content> {
  const { payment, transactions } = await readPayment(db, row.merchant_id, paymentId);
  const { fixed_network: network, fixed_currency: token } = payment;
  const amount = token === null ? '' : tokensText(payment.received_amount, token);
  const final = transactions.filter(({ status }) => status === 'final').map(({ tx_id: txId }) => txId);
  return {
    about: encodeId('payment', paymentId),
    values: { amount },
    rows: {
      amount,
      ...descriptionOf(row),
      ...(network !== null && { network: NETWORK_NAMES[network] }),
      ...(final.length > 0 && { transaction: final.join(' ') }),
    },
    link: subscriptionLink(row),
  };
}

async function noticeOf(
  db: Db,
  row: SubscriptionRow,
  {
    kind,
    invoice,
    language,
  }: { kind: Exclude<SubscriptionMail, 'receipt'>; invoice: InvoiceRow | undefined; language: PageLanguage },
): Promise<Content> {
  const about = encodeId('subscription', row.subscription_id);
  const notice = (due: bigint, values: Record<string, string> = {}) => {
    const amount = priceText(due, row.currency, language);
    return { about, values: { amount, ...values }, rows: { amount, ...descriptionOf(row) } };
  };
  switch (kind) {
    case 'payment_failed': {
      const page = await openPageOf(db, row.merchant_id, invoice?.session_id ?? null);
      const cause = `${about} ${invoice?.invoice_id}`;
      return { ...notice(invoice?.amount_due ?? row.amount), cause, link: page ?? subscriptionLink(row) };
    }
    case 'subscription_ending': {
      const date = row.cancel_at === null ? '' : dayText(Number(row.cancel_at), language);
      return {
        ...notice(row.amount, { date }),
        cause: `${about} ${row.cancel_at}`,
        link: subscriptionLink(row),
      };
    }
    case 'subscription_begun':
    case 'subscription_canceled':
      return { ...notice(row.amount), link: subscriptionLink(row) };
  }
}

/** The row of what is subscribed to, if it has a description. */
export const descriptionOf = ({ description }: SubscriptionRow) => description !== null && { description };

/** The page on which the customer sees the subscription and changes its wallet. */
export const subscriptionLink = (row: SubscriptionRow): NewMail['link'] => ({
  to: 'subscription',
  path: `${SUBSCRIBE_PATH}/${subscribeToken(row)}`,
});

/** Where the customer of a subscription gets mail. */
export async function emailOf(db: Db, row: SubscriptionRow): Promise<string | undefined> {
  const owner = { merchantId: row.merchant_id, customerId: row.customer_id };
  return (await readCustomer(db, owner, defaultPaymentMethods))?.email;
}

/** The language in which the customer reads the subscription's page, or else has read the invoice's. */
export async function languageOf(
  db: Db,
  { merchant_id: merchantId, customer_id: customerId }: SubscriptionRow,
  paymentId: string | null,
): Promise<PageLanguage> {
  const own = await customerLanguage(db, { merchantId, customerId });
  if (own !== null) return pageLanguageOf(own);
  const payment = paymentId === null ? undefined : (await readPayment(db, merchantId, paymentId)).payment;
  return pageLanguageOf(payment?.payer_language);
}

async function openPageOf(db: Db, merchantId: string, sessionId: string | null): Promise<NewMail['link']> {
  const page = sessionId === null ? undefined : await invoicePages.readInvoicePage(db, merchantId, sessionId);
  return page?.state === 'open' ? { to: 'pay', path: `/checkout/${page.token}` } : null;
}
