import type { Change } from '../events/index.ts';
import type { PaymentContext } from '../payments/index.ts';
import {
  endOfPage,
  factsOf,
  type InvoicePageState,
  invoicePageState,
  lockPayment,
  type PageEnd,
  paymentChange,
  readPayment,
  updatePayment,
} from '../payments/index.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import { newId } from '../platform/db/index.ts';
import { findSessionOfPage } from './page/queries.ts';
import { newPageSecret, pageToken } from './page-token.ts';
import { offeredOptions } from './payable-options.ts';
import { insertSession } from './session-queries.ts';

/** What is to be paid on a page of its own: an invoice, for a period of a subscription. */
export interface InvoicePage {
  merchantId: string;
  storeId: string;
  invoiceId: string;
  /** The external id. */
  customer: string;
  customerEmail: string | null;
  amount: bigint;
  currency: string;
  /** What the payer is told it is for. */
  description: string | null;
  periodStart: number;
  periodEnd: number;
  successUrl: string | null;
  cancelUrl: string | null;
}

/** UUIDs of a payment and its session. */
export interface OpenedPage {
  sessionId: string;
  paymentId: string;
}

/** Makes the session and the payment of an invoice, without an event: it lives as long as that is open. */
export async function openInvoicePage(
  tx: Tx,
  page: InvoicePage,
  { settings, time }: PaymentContext,
): Promise<OpenedPage> {
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

/** The page of an invoice for people: what its address ends in, and how it stands. */
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

/** Locks the payment of an invoice's page. @returns how it stands: while it is `busy` nothing of the invoice ends */
export async function lockInvoicePage(
  tx: Tx,
  { merchantId, paymentId }: PaymentKey,
): Promise<InvoicePageState> {
  return invoicePageState(factsOf(await lockPayment(tx, merchantId, paymentId)));
}

/**
 * Closes the page of an invoice that another payment has paid (`paid`: it expires without an event), or that is void. What
 * comes from then on only lies in `held`. A frozen page, and one where money is seen for an invoice that is paid, keeps its
 * status until that is decided, and completes no more.
 *
 * @returns the events, for the caller to record in order with its own; false, and nothing changes, where money for a void
 * invoice is seen and not final, or the page has been paid
 */
export async function closeInvoicePage(
  tx: Tx,
  { merchantId, paymentId }: PaymentKey,
  end: PageEnd,
  context: PaymentContext,
): Promise<Change[] | false> {
  const before = await lockPayment(tx, merchantId, paymentId);
  const { seconds } = context.time;
  const status = endOfPage(factsOf(before), end);
  if (status === undefined) return false;
  if (before.payment.closed_at !== null) return [];
  const canceled = status === 'cancelled' ? { canceled_at: seconds } : {};
  const payment = await updatePayment(tx, before.payment, { status, closed_at: seconds, ...canceled });
  if (end === 'paid' || status === before.payment.status) return [];
  const type = status === 'cancelled' ? 'payment.cancelled' : 'payment.expired';
  return [paymentChange({ before, after: { ...before, payment } }, type, context)];
}
