import type { PaymentContext } from '../payments/index.ts';
import { type InvoicePageState, openPayment } from '../payments/index.ts';
import { readInvoicePageState } from '../payments/invoice-pages/index.ts';
import { newId } from '../platform/db/ids/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { findSessionOfPage } from './page/queries.ts';
import { newPageSecret, pageToken } from './page-token.ts';
import { offeredOptions } from './payable-options.ts';
import { insertSession } from './session-queries.ts';

/** The page of an invoice for one period of a subscription. */
export interface InvoicePage {
  merchantId: string;
  storeId: string;
  invoiceId: string;
  /** The external id. */
  customer: string;
  customerEmail: string | null;
  amount: bigint;
  currency: string;
  /** Shown to the payer. */
  description: string | null;
  periodStart: number;
  periodEnd: number;
  successUrl: string | null;
  cancelUrl: string | null;
}

/** UUIDs of a payment and its session. */
export interface InvoicePageIds {
  sessionId: string;
  paymentId: string;
}

/** Creates the session and the payment of an invoice, without an event. They stay open as long as the invoice. */
export async function openInvoicePage(
  tx: Tx,
  page: InvoicePage,
  { settings, time }: PaymentContext,
): Promise<InvoicePageIds> {
  const [sessionId, paymentId] = [newId(), newId()];
  const session = {
    merchant_id: page.merchantId,
    session_id: sessionId,
    store_id: page.storeId,
    payment_id: paymentId,
    page_token: newPageSecret(),
    order_id: null,
    description: page.description,
    customer_email: page.customerEmail,
    success_url: page.successUrl,
    cancel_url: page.cancelUrl,
    options: offeredOptions(page.currency, settings.tokens),
    period_start: page.periodStart,
    period_end: page.periodEnd,
    created_at: time.seconds,
  };
  await insertSession(tx, session);
  const payment = {
    merchant_id: page.merchantId,
    payment_id: paymentId,
    session_id: sessionId,
    store_id: page.storeId,
    invoice_id: page.invoiceId,
    customer: page.customer,
    order_id: null,
    amount: page.amount,
    currency: page.currency,
    metadata: {},
    expires_at: null,
    payer_email: page.customerEmail,
  };
  await openPayment(tx, payment, time);
  return { sessionId, paymentId };
}

/** The token of an invoice page's URL, and the page's state. */
export async function readInvoicePage(
  db: Db,
  merchantId: string,
  sessionId: string,
): Promise<{ token: string; state: InvoicePageState } | undefined> {
  const session = await findSessionOfPage(db, { merchantId, sessionId });
  if (session === undefined) return undefined;
  const paymentId = session.payment_id;
  return { token: pageToken(session), state: await readInvoicePageState(db, { merchantId, paymentId }) };
}
