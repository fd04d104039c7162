import type { Change } from '../events/index.ts';
import type { PaymentContext } from '../payments/index.ts';
import {
  factsOf,
  type InvoicePageState,
  invoicePageState,
  lockPayment,
  lockPayments,
  type PageEnd,
  paymentChange,
  readPayment,
  statusAfterPageEnd,
  updatePayment,
} from '../payments/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { newId } from '../platform/db/index.ts';
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
  await insertSession(tx, session, {
    store_id: page.storeId,
    invoice_id: page.invoiceId,
    customer: page.customer,
    amount: page.amount,
    currency: page.currency,
    metadata: {},
    expires_at: null,
    created_at: time.seconds,
  });
  return { sessionId, paymentId };
}

interface PaymentKey {
  merchantId: string;
  paymentId: string;
}

/** The token of an invoice page's URL, and the page's state. */
export async function readInvoicePage(
  db: Db,
  merchantId: string,
  sessionId: string,
): Promise<{ token: string; state: InvoicePageState } | undefined> {
  const session = await findSessionOfPage(db, { merchantId, sessionId });
  if (session === undefined) return undefined;
  const view = await readPayment(db, merchantId, session.payment_id);
  return { token: pageToken(session), state: invoicePageState(factsOf(view)) };
}

/**
 * Locks the payments of invoices' pages, in the order of their ids.
 *
 * @returns their states by payment: an invoice must not end while its page is `busy`
 */
export async function lockInvoicePages(
  tx: Tx,
  merchantId: string,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, InvoicePageState>> {
  if (paymentIds.length === 0) return new Map();
  const views = await lockPayments(tx, merchantId, paymentIds);
  return new Map(views.map((view) => [view.payment.payment_id, invoicePageState(factsOf(view))]));
}

/**
 * Closes the page of an invoice that another payment has paid (`paid`: it expires without an event), or that is void. Money
 * that arrives later is only held. A frozen page, or one with seen money for a paid invoice, keeps its status until that
 * money is decided, and never completes.
 *
 * @returns the events, for the caller to record in order with its own; false, without a change, if a void invoice has seen
 * money that is not final, or the page has been paid
 */
export async function closeInvoicePage(
  tx: Tx,
  { merchantId, paymentId }: PaymentKey,
  end: PageEnd,
  context: PaymentContext,
): Promise<Change[] | false> {
  const before = await lockPayment(tx, merchantId, paymentId);
  const { seconds } = context.time;
  const status = statusAfterPageEnd(factsOf(before), end);
  if (status === undefined) return false;
  if (before.payment.closed_at !== null) return [];
  const canceled = status === 'cancelled' ? { canceled_at: seconds } : {};
  const payment = await updatePayment(tx, before.payment, { status, closed_at: seconds, ...canceled });
  if (end === 'paid' || status === before.payment.status) return [];
  const type = status === 'cancelled' ? 'payment.cancelled' : 'payment.expired';
  return [paymentChange({ before, after: { ...before, payment } }, type, context)];
}
