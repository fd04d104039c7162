import {
  NETWORK_NAMES,
  type PageLanguage,
  periodText,
  priceText,
  type ReceiptView,
  timeText,
  tokensText,
} from '@florin/pages';
import { findInvoice, type InvoiceRow } from '../../invoices/index.ts';
import type { PaymentDeps } from '../../payments/index.ts';
import { currentOption, type PaymentView, readPayment } from '../../payments/reads/index.ts';
import { decodeId } from '../../tenancy/index.ts';
import type { Portal } from './portal-session.ts';
import { findSubscriptionRow } from './queries.ts';
import { itemsOf } from './shown.ts';

/** The receipt of a paid invoice of the portal's own customer; undefined for any other invoice. */
export async function readReceipt(
  { db, chains }: Pick<PaymentDeps, 'db' | 'chains'>,
  portal: Portal,
  { id, language }: { id: string; language: PageLanguage },
): Promise<ReceiptView | undefined> {
  const { merchant, session, storeId, storeName, brand, token } = portal;
  const invoiceId = decodeId('invoice', id);
  const invoice = invoiceId === undefined ? undefined : await findInvoice(db, merchant.merchantId, invoiceId);
  if (invoice?.status !== 'paid') return undefined;
  if (invoice.customer_id !== session.customer_id || invoice.store_id !== storeId) return undefined;
  const { merchant_id: merchantId, subscription_id: subscriptionId } = invoice;
  const subscription = await findSubscriptionRow(db, { merchantId, subscriptionId });
  const payment = await paidBy(db, invoice);
  const period = { start: Number(invoice.period_start), end: Number(invoice.period_end) };
  return {
    page: 'receipt',
    language,
    storeName,
    brand,
    isTest: chains.isTest(merchant),
    token,
    invoiceId: id,
    customer: session.customer,
    items: subscription === undefined ? [] : itemsOf(subscription.items),
    period: periodText(period, language),
    price: priceText(invoice.amount_due, invoice.currency, language),
    paidAt: timeText(Number(invoice.paid_at), language),
    payment: payment === undefined ? null : paymentOf(payment),
  };
}

/** The payment that paid the invoice: the newest charge, or its page. */
async function paidBy(
  db: PaymentDeps['db'],
  { merchant_id: merchantId, charge_payment_id, page_payment_id }: InvoiceRow,
): Promise<PaymentView | undefined> {
  for (const paymentId of [charge_payment_id, page_payment_id]) {
    const view = paymentId === null ? undefined : await readPayment(db, merchantId, paymentId);
    if (view?.payment.status === 'completed') return view;
  }
  return undefined;
}

function paymentOf(view: PaymentView): ReceiptView['payment'] {
  const option = currentOption(view);
  if (option === undefined) return null;
  const ids = new Set(view.transactions.filter((t) => t.kind === 'counted').map((t) => t.tx_id));
  return {
    received: tokensText(view.payment.received_amount, option.currency),
    networkName: NETWORK_NAMES[option.network],
    txIds: [...ids],
  };
}
