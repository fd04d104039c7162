import { invoicePages } from '../checkout/index.ts';
import { readCustomer } from '../customers/index.ts';
import type { Change } from '../events/index.ts';
import { type InvoiceChange, insertInvoices, updateInvoices } from '../invoices/billing/index.ts';
import { changingColumns, type InvoiceFacts, lastingColumns } from '../invoices/decide/index.ts';
import type { InvoiceRow } from '../invoices/index.ts';
import { defaultPaymentMethods } from '../payment-methods/index.ts';
import type { PaymentContext } from '../payments/index.ts';
import { closeInvoicePage, repriceInvoicePage } from '../payments/invoice-pages/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { invariant } from '../platform/fail.ts';
import type { SubscriptionRow } from './queries.ts';

/** An invoice of a decision: its stored row, if it is not new, and its new facts. */
interface Invoice {
  known: InvoiceRow | undefined;
  facts: InvoiceFacts;
}

/**
 * Closes the page of an invoice that no longer needs it. The caller holds the lock of its payment and has checked that
 * the page has no pending money.
 *
 * @returns its event, if there is one
 */
export async function closePage(
  tx: Tx,
  { known, facts }: Invoice,
  context: PaymentContext,
): Promise<Change | undefined> {
  const paymentId = known?.page_payment_id ?? null;
  if (facts.status === 'open' || facts.page === 'paid' || known === undefined || paymentId === null)
    return undefined;
  const voidAs = facts.paymentStatus === 'canceled' ? 'canceled' : 'expired';
  const end = facts.status === 'paid' ? 'paid' : voidAs;
  const changes = await closeInvoicePage(tx, { merchantId: known.merchant_id, paymentId }, end, context);
  invariant(changes !== false, 'a page that holds its invoice open is not closed');
  return changes[0];
}

/** An invoice to write, with its updated page. */
interface PreparedInvoice extends Invoice {
  owner: SubscriptionRow;
  payments: InvoiceChange['payments'];
}

/**
 * Opens the page that an invoice gets now, or reduces the amount of its page.
 *
 * @param chargePaymentId the payment of its newest charge, if there is a new one
 */
export async function preparePage(
  tx: Tx,
  { known, facts }: Invoice,
  owner: SubscriptionRow,
  { context, chargePaymentId }: { context: PaymentContext; chargePaymentId: string | undefined },
): Promise<PreparedInvoice> {
  const needsPage = facts.page === 'open' && (known?.page_payment_id ?? null) === null;
  const payments = {
    ...(needsPage ? await openPage(tx, facts, owner, context) : {}),
    ...(chargePaymentId === undefined ? {} : { charge_payment_id: chargePaymentId }),
  };
  await repricePage(tx, { known, facts }, context);
  return { known, facts, owner, payments };
}

/**
 * Writes invoices of a merchant. Updates come before inserts, because an invoice that ends makes room for a new one.
 *
 * @returns the written invoices, in their order
 */
export async function writeInvoices(tx: Tx, invoices: readonly PreparedInvoice[]): Promise<InvoiceRow[]> {
  const changes = invoices.flatMap(({ known, ...invoice }) => (known ? { known, ...invoice } : []));
  const changed = await updateInvoices(tx, changes);
  const made = invoices.filter(({ known }) => known === undefined).map(newInvoice);
  await insertInvoices(tx, made);
  const rows = new Map([...changed, ...made].map((row) => [row.invoice_id, row]));
  return invoices.flatMap(({ facts }) => rows.get(facts.id) ?? []);
}

function newInvoice({ facts, owner, payments }: PreparedInvoice): InvoiceRow {
  const { merchant_id, store_id, subscription_id, customer_id, customer, currency, interval } = owner;
  return {
    merchant_id,
    store_id,
    subscription_id,
    customer_id,
    customer,
    currency,
    interval,
    session_id: null,
    page_payment_id: null,
    charge_payment_id: null,
    ...lastingColumns(facts),
    ...changingColumns(facts),
    ...payments,
  };
}

/** Reduces the amount on the page of a reduced invoice. `closePage` closes the page of an ended one. */
async function repricePage(tx: Tx, { known, facts }: Invoice, context: PaymentContext): Promise<void> {
  const paymentId = known?.page_payment_id ?? null;
  if (known === undefined || paymentId === null || facts.status !== 'open') return;
  if (known.amount_due !== facts.amount)
    await repriceInvoicePage(tx, { merchantId: known.merchant_id, paymentId }, facts.amount, context);
}

async function openPage(tx: Tx, facts: InvoiceFacts, owner: SubscriptionRow, context: PaymentContext) {
  const { merchant_id: merchantId, customer_id: customerId } = owner;
  const customer = await readCustomer(tx, { merchantId, customerId }, defaultPaymentMethods);
  const page = {
    merchantId,
    storeId: owner.store_id,
    invoiceId: facts.id,
    customer: owner.customer,
    customerEmail: customer?.email ?? null,
    amount: facts.amount,
    currency: owner.currency,
    description: owner.description ?? subjectOf(owner),
    periodStart: facts.periodStart,
    periodEnd: facts.periodEnd,
    successUrl: owner.success_url,
    cancelUrl: owner.cancel_url,
  };
  const { sessionId, paymentId } = await invoicePages.openInvoicePage(tx, page, context);
  return { session_id: sessionId, page_payment_id: paymentId };
}

/** The default description of a payment for payers. */
const subjectOf = ({ items }: Pick<SubscriptionRow, 'items'>) =>
  [...new Set(items.map(({ product }) => product))].join(', ');
