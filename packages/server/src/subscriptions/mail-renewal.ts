import { dayText, priceText } from '@florin/pages';
import { findInvoice } from '../invoices/index.ts';
import { queueMail } from '../mail/index.ts';
import { problemOf } from '../payment-methods/health/index.ts';
import { type PaymentMethodRow, readPaymentMethod } from '../payment-methods/index.ts';
import { readMandate } from '../payment-methods/mandates/index.ts';
import { quoteCharge } from '../payments/charges/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { getMerchant, type Merchant } from '../stores/index.ts';
import { encodeId, merchantTime } from '../tenancy/index.ts';
import { needOf } from './charge-needs.ts';
import type { SubscriptionDeps } from './deps.ts';
import { realMsOf } from './jobs.ts';
import { descriptionOf, emailOf, languageOf, subscriptionLink } from './mail-subscription.ts';
import { findSubscription, type SubscriptionRow } from './queries.ts';
import { renewalMailAt } from './renewal-mail-job.ts';

export { RENEWAL_MAIL_JOB } from './renewal-mail-job.ts';

/** Without a rate, or while the network cannot be read, the mandate is read again after this time. */
const AGAIN_MS = 900_000;

/** Handles `RENEWAL_MAIL_JOB`. The customer is told once for each period. */
export async function mailRenewal(deps: SubscriptionDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { db } = deps;
  const { merchantId } = job;
  const row = await findSubscription(db, merchantId, String(job.payload.subscriptionId));
  const merchant = await getMerchant(db, merchantId);
  const time = merchantTime(deps, merchant);
  const at = row && renewalMailAt(row);
  if (row === undefined || at === undefined || row.current_period_end <= time.seconds) return 'done';
  // The period has moved since the job was written.
  if (at > time.seconds) return { againAtMs: realMsOf(at, time) };
  const to = await emailOf(db, row);
  if (to === undefined || merchant.suspendedAt !== null) return 'done';
  const will = await willPay(deps, merchant, row);
  if (will === 'pay') return 'done';
  if (will === 'unknown') return { againAtMs: time.realMs + AGAIN_MS };
  const invoice =
    row.latest_invoice_id === null ? undefined : await findInvoice(db, merchantId, row.latest_invoice_id);
  const language = await languageOf(db, row, invoice?.page_payment_id ?? null);
  const about = encodeId('subscription', row.subscription_id);
  const amount = priceText(needOf(row, undefined).amount, row.currency, language);
  await run.finish((tx) =>
    queueMail(tx, { merchantId, storeId: row.store_id }, time, {
      kind: 'renewal_short',
      about,
      cause: `${about} ${row.current_period_end}`,
      to,
      language,
      values: { amount, date: dayText(Number(row.current_period_end), language) },
      rows: { amount, ...descriptionOf(row) },
      link: subscriptionLink(row),
    }),
  );
  return 'done';
}

/** Whether the mandate pays the next period, as wallet and rate are now. */
async function willPay(
  deps: SubscriptionDeps,
  merchant: Merchant,
  row: SubscriptionRow,
): Promise<'pay' | 'short' | 'unknown'> {
  const { methodId, amount: price } = needOf(row, undefined);
  if (price === 0n) return 'pay';
  const method = await readPaymentMethod(deps.db, merchant.merchantId, methodId);
  if (method === undefined || method.status === 'revoked') return 'short';
  const amount = await tokensOf(deps, merchant, { amount: price, currency: row.currency }, method);
  if (amount === undefined) return 'unknown';
  const reading = await readMandate(deps, merchant, method, amount);
  const problem = problemOf(reading, amount, method.cap_amount);
  if (problem === 'network_unavailable') return 'unknown';
  return problem === undefined ? 'pay' : 'short';
}

async function tokensOf(
  deps: SubscriptionDeps,
  merchant: Merchant,
  price: { amount: bigint; currency: string },
  { currency: token }: PaymentMethodRow,
): Promise<bigint | undefined> {
  try {
    return (await quoteCharge(deps, merchant, price, token))?.pay_amount;
  } catch (error) {
    if (error instanceof Fail) return undefined;
    throw error;
  }
}
