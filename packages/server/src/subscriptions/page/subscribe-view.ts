import { dayText, type PageLanguage, periodText, priceText, type SubscribeView } from '@florin/pages';
import { invoicePages } from '../../checkout/index.ts';
import { findInvoice, type InvoiceRow } from '../../invoices/index.ts';
import type { PaymentDeps } from '../../payments/index.ts';
import type { SubscriptionRow } from '../queries.ts';
import type { SubscribePage } from './find-subscribe-page.ts';
import { CAP_FACTOR } from './mandate-cap.ts';
import { readSubscription, withoutActions } from './portal-view.ts';
import { declineOf, itemsOf, mandateWallets, walletOptions } from './shown.ts';
import { subscribeState } from './subscribe-state.ts';

/** Reads all data of the page for the first payment. */
export async function readSubscribeView(
  deps: Pick<PaymentDeps, 'db' | 'clock' | 'chains'>,
  page: SubscribePage,
  language: PageLanguage,
): Promise<SubscribeView> {
  const { subscription, merchant, storeName, brand, token } = page;
  const { merchant_id: merchantId, currency, amount, interval } = subscription;
  const invoice = await openInvoiceOf(deps, subscription);
  const session =
    invoice?.session_id == null
      ? undefined
      : await invoicePages.readInvoicePage(deps.db, merchantId, invoice.session_id);
  const state = subscribeState({
    status: subscription.status,
    hasMethod: subscription.payment_method_id !== null,
    invoice: invoice && {
      isLive: invoice.live_attempt !== null,
      hasFailed: invoice.payment_status === 'failed',
      page: session?.state ?? null,
    },
  });
  const isTrial = subscription.trial_end !== null && invoice === null;
  const isPart = invoice !== null && invoice.amount_due !== amount;
  const options = await walletOptions(deps, merchant, currency);
  return {
    page: 'subscribe',
    token,
    language,
    state,
    storeName,
    brand,
    isTest: deps.chains.isTest(merchant),
    isSimulated: merchant.mode === 'sandbox',
    price: priceText(amount, currency, language),
    items: itemsOf(subscription.items),
    description: subscription.description,
    freeUntil: isTrial ? dayText(Number(subscription.trial_end), language) : null,
    first: isPart ? firstOf(invoice, language) : null,
    cap: priceText(amount * CAP_FACTOR, currency, language),
    interval,
    options,
    wallets: await mandateWallets(deps, merchant, options),
    invoiceToken: session?.state === 'open' ? session.token : null,
    declined: await declineOf(deps, invoice ?? undefined),
    begun: state === 'done' || state === 'overdue' ? await begunOf(deps, page, language) : null,
    returnUrl: state === 'done' ? subscription.success_url : subscription.cancel_url,
  };
}

/** The subscription as the portal shows it. */
async function begunOf(
  deps: Pick<PaymentDeps, 'db' | 'clock' | 'chains'>,
  { subscription: row, merchant }: SubscribePage,
  language: PageLanguage,
): Promise<SubscribeView['begun']> {
  const begun = await readSubscription(deps, merchant, row, language);
  return merchant.isSuspended ? withoutActions(begun) : begun;
}

function firstOf(invoice: InvoiceRow, language: PageLanguage) {
  const period = { start: Number(invoice.period_start), end: Number(invoice.period_end) };
  return {
    price: priceText(invoice.amount_due, invoice.currency, language),
    period: periodText(period, language),
  };
}

async function openInvoiceOf(
  { db }: Pick<PaymentDeps, 'db'>,
  { merchant_id: merchantId, latest_invoice_id: invoiceId }: SubscriptionRow,
): Promise<InvoiceRow | null> {
  const invoice = invoiceId === null ? undefined : await findInvoice(db, merchantId, invoiceId);
  return invoice?.status === 'open' ? invoice : null;
}
