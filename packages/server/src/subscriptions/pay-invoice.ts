import { hasPendingPayment } from '../invoices/decide/index.ts';
import { getInvoice, type InvoiceRow } from '../invoices/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail, invariant } from '../platform/fail.ts';
import { getMerchant } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import type { ChangedBilling } from './billing.ts';
import { type ChargeReading, type ChargeTryResult, readForCharge, tryCharges } from './charge-invoice.ts';
import { BillingDraft } from './decide/draft.ts';
import { payNow } from './decide/mandate.ts';
import { billingContext, decisionContextOf, type StoreCaller, type SubscriptionDeps } from './deps.ts';
import { getSubscription } from './queries.ts';
import { lockBilling, writeDecision } from './write-decisions.ts';

/**
 * Charges the mandate of an invoice's subscription now, outside of its schedule. If the charge would fail, it is
 * recorded as failed and the request is refused.
 *
 * @throws Fail `resource_not_found`, `forbidden`, `invalid_request`
 */
export async function payInvoice(
  deps: SubscriptionDeps,
  caller: StoreCaller,
  id: string,
): Promise<InvoiceRow> {
  const invoice = await getInvoice(deps.db, caller, id);
  if (invoice.status !== 'open') throw notOpen(invoice.status);
  const { merchant_id: merchantId, subscription_id: subscriptionId, invoice_id: invoiceId } = invoice;
  const merchant = await getMerchant(deps.db, merchantId);
  const subscription = await getSubscription(deps.db, caller, encodeId('subscription', subscriptionId));
  const methodId = subscription.payment_method_id;
  const reading = await readForCharge(deps, merchant, { methodId, invoice });
  if (reading === undefined)
    throw new Fail('invalid_request', 'The subscription has no payment method to charge.');
  const { tried, changed } = await tryNow(deps, caller, { invoice, reading });
  if (tried.did === 'declined') {
    const details = { declineCode: tried.code, charge: encodeId('payment', tried.paymentId) };
    throw new Fail('invalid_request', {
      message: 'The charge has failed; decline_code says why.',
      ...details,
    });
  }
  return changed.invoices.find((row) => row.invoice_id === invoiceId) ?? invoice;
}

const notOpen = (status: string) =>
  new Fail('invalid_request', `This invoice is ${status}: nothing is to be paid.`);

async function tryNow(
  deps: SubscriptionDeps,
  caller: StoreCaller,
  { invoice, reading }: { invoice: InvoiceRow; reading: ChargeReading },
): Promise<{ tried: ChargeTryResult; changed: ChangedBilling }> {
  const { merchant_id: merchantId, subscription_id: subscriptionId, invoice_id: invoiceId } = invoice;
  const context = await billingContext(deps, caller);
  if (context.suspensions.suspendedAt !== null) throw new Fail('forbidden', 'This merchant is suspended.');
  return await transact(deps.db, async (tx) => {
    const billing = await lockBilling(tx, merchantId, subscriptionId);
    const facts = billing.facts.invoices.find((one) => one.id === invoiceId);
    if (facts === undefined) throw notOpen('over by now');
    if (hasPendingPayment(facts))
      throw new Fail('invalid_request', 'A payment of this invoice is on its way. Wait until it is final.');
    const isRead = billing.facts.subscription.methodId === reading.method.payment_method_id;
    if (!isRead || facts.amount !== invoice.amount_due)
      throw new Fail('service_unavailable', {
        message: 'The invoice or its payment method has just changed.',
        retryAfterSeconds: 1,
      });
    const draft = new BillingDraft(billing.facts, decisionContextOf(context));
    payNow(draft, invoiceId);
    const [tried] = await tryCharges(tx, [{ billing, draft, invoiceId, reading, context, isDueJob: false }]);
    invariant(tried !== undefined, 'each try has an outcome');
    return { tried, changed: await writeDecision(tx, tried.toWrite) };
  });
}
