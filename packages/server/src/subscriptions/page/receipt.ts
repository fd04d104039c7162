import type { PageLanguage } from '@florin/contract/checkout-page';
import { formatTokens } from '@florin/contract/money';
import { bdi, exact, NETWORK_NAMES, periodText, timeText } from '../../checkout/index.ts';
import { findInvoice, type InvoiceRow } from '../../invoices/index.ts';
import { currentOption, type PaymentDeps, type PaymentView, readPayment } from '../../payments/index.ts';
import { escapeHtml, type PageAnswer } from '../../platform/http/index.ts';
import { decodeId } from '../../tenancy/index.ts';
import { receiptHtml } from './portal-html.ts';
import type { Portal } from './portal-session.ts';
import { findSubscriptionRow } from './queries.ts';
import { itemTexts, priceText } from './subscribe-view.ts';
import type { Word } from './words.ts';

/** The receipt of a paid invoice of the portal's own customer; undefined for everything else. */
export async function readReceipt(
  { db }: Pick<PaymentDeps, 'db'>,
  portal: Portal,
  { id, language }: { id: string; language: PageLanguage },
): Promise<PageAnswer | undefined> {
  const { merchant, session, storeId, storeName, token } = portal;
  const invoiceId = decodeId('invoice', id);
  const invoice = invoiceId === undefined ? undefined : await findInvoice(db, merchant.merchantId, invoiceId);
  if (invoice?.status !== 'paid') return undefined;
  if (invoice.customer_id !== session.customer_id || invoice.store_id !== storeId) return undefined;
  const { merchant_id: merchantId, subscription_id: subscriptionId } = invoice;
  const subscription = await findSubscriptionRow(db, { merchantId, subscriptionId });
  const items = subscription === undefined ? [] : itemTexts(subscription.items, language);
  const payment = await paidBy(db, invoice);
  const view = { language, storeName, isTest: merchant.mode === 'sandbox', token };
  return receiptHtml(view, [
    ['receipt_from', bdi(storeName)],
    ['receipt_customer', bdi(session.customer)],
    ...items.map((item) => ['for', `<span dir="auto">${escapeHtml(item)}</span>`] as const),
    ...invoiceRows(invoice, language),
    ...(payment === undefined ? [] : paymentRows(payment)),
    ['receipt_invoice', exact(id)],
  ]);
}

/** The payment that has paid it: the newest charge, or its page. */
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

function invoiceRows(invoice: InvoiceRow, language: PageLanguage): [Word, string][] {
  const period = { start: Number(invoice.period_start), end: Number(invoice.period_end) };
  return [
    ['receipt_period', bdi(periodText(period, language))],
    ['price', bdi(priceText(invoice.amount_due, invoice.currency, language))],
    ['receipt_paid', bdi(timeText(Number(invoice.paid_at), language))],
  ];
}

function paymentRows(view: PaymentView): [Word, string][] {
  const option = currentOption(view);
  const ids = new Set(view.transactions.filter((t) => t.kind === 'counted').map((t) => t.tx_id));
  if (option === undefined) return [];
  return [
    ['receipt_received', bdi(`${formatTokens(view.payment.received_amount)}\u00a0${option.currency}`)],
    ['receipt_network', bdi(NETWORK_NAMES[option.network])],
    ...[...ids].map((id): [Word, string] => ['receipt_transaction', exact(id)]),
  ];
}
