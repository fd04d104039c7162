import type { PaymentOption } from '@florin/contract/schemas';
import {
  type Decline,
  dayText,
  NETWORK_NAMES,
  type PageLanguage,
  periodText,
  priceText,
  type SubscribedItem,
  type SubscribeView,
  type WalletOption,
} from '@florin/pages';
import { invoicePages, offeredOptions } from '../../checkout/index.ts';
import { findInvoice, type InvoiceRow } from '../../invoices/index.ts';
import { type PaymentDeps, paymentSettings } from '../../payments/index.ts';
import { readPayment } from '../../payments/reads/index.ts';
import type { SubscriptionRow } from '../queries.ts';
import type { StoredItem } from '../tables.ts';
import type { SubscribePage } from './find-subscribe-page.ts';
import { CAP_FACTOR } from './mandate-cap.ts';
import { subscribeState } from './subscribe-state.ts';

/** The subscribed items. */
export const itemsOf = (items: readonly StoredItem[]): SubscribedItem[] =>
  items.map(({ product, quantity }) => ({ product, quantity }));

/** The tokens and networks that a store accepts from wallets for prices in a currency. */
export async function walletOptions(
  deps: Pick<PaymentDeps, 'db' | 'chains'>,
  merchant: SubscribePage['merchant'],
  currency: string,
): Promise<WalletOption[]> {
  const { tokens } = await paymentSettings(deps, merchant);
  return offeredOptions(currency, tokens).map((option: PaymentOption) => ({
    value: `${option.currency}:${option.network}`,
    token: option.currency,
    networkName: NETWORK_NAMES[option.network],
  }));
}

const DECLINES: Partial<Record<string, Decline>> = {
  insufficient_balance: 'insufficient_balance',
  insufficient_allowance: 'insufficient_allowance',
  cap_exceeded: 'cap_exceeded',
  mandate_revoked: 'mandate_revoked',
};

/** Why the newest charge of an open invoice failed. */
export async function declineOf(
  { db }: Pick<PaymentDeps, 'db'>,
  invoice: InvoiceRow | undefined,
): Promise<Decline | null> {
  if (invoice?.payment_status !== 'failed' || invoice.charge_payment_id === null) return null;
  const { payment } = await readPayment(db, invoice.merchant_id, invoice.charge_payment_id);
  return DECLINES[payment.decline_code ?? ''] ?? 'other';
}

/** Reads all data of the page for the first payment. */
export async function readSubscribeView(
  deps: Pick<PaymentDeps, 'db' | 'chains'>,
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
    options: await walletOptions(deps, merchant, currency),
    invoiceToken: session?.state === 'open' ? session.token : null,
    declined: await declineOf(deps, invoice ?? undefined),
    paidUntil: dayText(Number(subscription.current_period_end), language),
    returnUrl: state === 'done' ? subscription.success_url : subscription.cancel_url,
  };
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
