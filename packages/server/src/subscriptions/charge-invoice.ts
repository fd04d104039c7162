import { capUsed, type InvoiceRow } from '../invoices/index.ts';
import {
  declineCode,
  type MandateReading,
  mustWait,
  openCharges,
  orderCharge,
  type PaymentMethodRow,
  readMandate,
  readPaymentMethod,
  walletLock,
} from '../payment-methods/index.ts';
import { type ChargeQuote, insertCharge, quoteCharge, recordFailedCharge } from '../payments/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { together } from '../platform/db/index.ts';
import { Fail, invariant } from '../platform/fail.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import type { Merchant } from '../stores/index.ts';
import type { Billing, ChangedBilling } from './billing.ts';
import { writeDecision } from './change-subscription.ts';
import { orderedCharge, type Reading, tryCharge, windowAt } from './charge.ts';
import type { BillingContext, SubscriptionDeps } from './deps.ts';
import type { Draft } from './draft.ts';

/** What is known of a mandate and a price before a charge of it is decided; nothing of it is promised to hold. */
export interface ChargeReading {
  method: PaymentMethodRow;
  mandate: MandateReading;
  /** Undefined while there is no rate to charge at. */
  quote: ChargeQuote | undefined;
}

/** Asks the chain and the rates, outside of every transaction. @returns undefined where there is nothing to charge */
export async function readForCharge(
  deps: SubscriptionDeps,
  merchant: Merchant,
  { methodId, invoice }: { methodId: string | null; invoice: InvoiceRow },
): Promise<ChargeReading | undefined> {
  const method =
    methodId === null ? undefined : await readPaymentMethod(deps.db, merchant.merchantId, methodId);
  if (method === undefined) return undefined;
  const quote = await quoteNow(deps, merchant, invoice, method);
  const mandate = await readMandate(deps, merchant, method, quote?.pay_amount);
  return { method, mandate, quote };
}

async function quoteNow(
  deps: SubscriptionDeps,
  merchant: Merchant,
  invoice: InvoiceRow,
  { currency }: PaymentMethodRow,
): Promise<ChargeQuote | undefined> {
  try {
    return await quoteCharge(
      deps,
      merchant,
      { amount: invoice.amount_due, currency: invoice.currency },
      currency,
    );
  } catch (error) {
    // A price that no token can pay at this rate: a payer's page cannot either, and a better rate may come.
    if (error instanceof Fail) return undefined;
    throw error;
  }
}

export type Charged =
  | { did: 'ordered' | 'waits'; changed: ChangedBilling }
  | { did: 'declined'; changed: ChangedBilling; code: string; paymentId: string };

/**
 * Decides a try with what was read, under all locks, and writes it: the charge is ordered, or recorded as failed without
 * being sent, or waits.
 */
export async function chargeInvoice(
  tx: Tx,
  billing: Billing,
  { draft, invoiceId, read, context, isDueJob }: Trial,
): Promise<Charged> {
  const { merchant_id: merchantId, subscription_id: subscriptionId } = billing.subscription;
  const taken = await lockWallet(tx, billing, { method: read.method, now: draft.now });
  const { method } = taken;
  const reading = judge(read, taken);
  const attempt = tryCharge(draft, invoiceId, reading);
  const write = (charge?: { paymentId: string; change: undefined | FailedChange }) =>
    writeDecision(tx, billing, {
      decision: draft.decision,
      context,
      additions: { isDueJob, ...(charge === undefined ? {} : { charge: { invoiceId, ...charge } }) },
    });
  if (attempt.did === 'waits') return { did: 'waits', changed: await write() };
  const charge = chargeOf(billing, invoiceId, read);
  if (attempt.did === 'declined') {
    const { code } = attempt;
    const failed = await recordFailedCharge(tx, { ...charge, quote: read.quote ?? null }, code, context);
    return { did: 'declined', changed: await write(failed), code, paymentId: failed.paymentId };
  }
  if (read.quote === undefined) throw new Error('a charge is ordered at a quote');
  const { capUse } = attempt;
  const paymentId = await insertCharge(tx, { ...charge, quote: read.quote }, context);
  orderedCharge(draft, invoiceId, { capUse, paymentId });
  const window = windowAt(draft.subscription, draft.now);
  const windowed = { subscriptionId, windowStart: window.start, windowEnd: window.end };
  const order = { merchantId, paymentId, method, amount: capUse.amount, ...windowed };
  await orderCharge(tx, order, context.time);
  crashPoint('billing.charge-ordered');
  return { did: 'ordered', changed: await write({ paymentId, change: undefined }) };
}

/** A method under its lock, and what other charges take. */
interface Taken {
  method: PaymentMethodRow;
  /** Out of its wallet: what is on its way. */
  onTheirWay: bigint;
  /** Of its cap in this window. */
  used: bigint;
}

/** Locks a method with all others of its wallet, as what one of them takes the others cannot. */
async function lockWallet(
  tx: Tx,
  { subscription, facts }: Billing,
  { method, now }: { method: PaymentMethodRow; now: number },
): Promise<Taken> {
  const { merchant_id: merchantId, subscription_id: subscriptionId } = subscription;
  const { payment_method_id: methodId } = method;
  const { start } = windowAt(facts.subscription, now);
  const [methods, [open], [cap]] = await together(
    tx,
    walletLock(method),
    openCharges(method),
    capUsed(merchantId, { subscriptionId, methodId, start }),
  );
  const locked = methods.find((row) => row.payment_method_id === methodId);
  invariant(locked !== undefined, 'a payment method is never deleted');
  return { method: locked, onTheirWay: BigInt(open?.total ?? 0), used: cap?.used ?? 0n };
}

type FailedChange = Awaited<ReturnType<typeof recordFailedCharge>>['change'];

export interface Trial {
  draft: Draft;
  invoiceId: string;
  read: ChargeReading;
  context: BillingContext;
  isDueJob: boolean;
}

/** What the reading means now that nothing moves: the method's status, and what else is taken from it. */
function judge({ mandate, quote }: ChargeReading, { method, onTheirWay, used }: Taken): Reading {
  // By our call: on the chain it may stand yet.
  if (method.status === 'revoked') return { kind: 'declined', code: 'mandate_revoked' };
  if (quote === undefined) return { kind: 'unavailable' };
  const amount = quote.pay_amount;
  const code = declineCode(mandate, amount);
  if (code !== undefined) return { kind: 'declined', code };
  if (mustWait(mandate, amount, onTheirWay)) return { kind: 'unavailable' };
  return { kind: 'ready', methodId: method.payment_method_id, amount, cap: method.cap_amount, used };
}

function chargeOf({ subscription, facts }: Billing, invoiceId: string, { method }: ChargeReading) {
  const { merchant_id: merchantId, store_id: storeId, customer, currency } = subscription;
  const amount = facts.invoices.find(({ id }) => id === invoiceId)?.amount ?? 0n;
  const { currency: token, network, wallet_address: wallet, recipient } = method;
  return {
    merchantId,
    storeId,
    invoiceId,
    customer,
    amount,
    currency,
    method: { currency: token, network, wallet, recipient },
  };
}
