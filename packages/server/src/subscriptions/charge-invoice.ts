import { capsUsed } from '../invoices/billing/index.ts';
import type { InvoiceRow } from '../invoices/index.ts';
import { type OrderedCharge, orderCharges } from '../payment-methods/charges/index.ts';
import {
  declineCode,
  type MandateReading,
  mustWait,
  type PaymentMethodRow,
  readPaymentMethod,
  walletOf,
  walletsLock,
} from '../payment-methods/index.ts';
import { readMandate } from '../payment-methods/mandates/index.ts';
import {
  type ChargeQuote,
  insertCharges,
  type MadeCharge,
  type NewCharge,
  quoteCharge,
} from '../payments/charges/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { pipeline } from '../platform/db/statements/index.ts';
import { Fail, invariant } from '../platform/fail.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import type { Merchant } from '../stores/index.ts';
import { openChargesOf } from '../transfers/charges/index.ts';
import type { Billing } from './billing.ts';
import {
  type ChargeCheck,
  chargeWindowAt,
  orderedCharge,
  type TryDecision,
  tryCharge,
} from './decide/charge.ts';
import type { BillingDraft } from './decide/draft.ts';
import type { BillingContext, SubscriptionDeps } from './deps.ts';
import type { Additions, DecisionToWrite } from './write-decisions.ts';

/** Mandate and quote, read before a charge is decided. They may have changed by then, so the decision checks again. */
export interface ChargeReading {
  method: PaymentMethodRow;
  mandate: MandateReading;
  /** Undefined while there is no rate. */
  quote: ChargeQuote | undefined;
}

/**
 * Reads the mandate and the rate. Do not call it in a transaction.
 *
 * @returns undefined if there is no mandate to charge
 */
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
    // The price is too large to be paid in a token at this rate; the rate may change.
    if (error instanceof Fail) return undefined;
    throw error;
  }
}

/** A try to charge an invoice, decided under the lock of its subscription. */
export interface ChargeTry {
  billing: Billing;
  draft: BillingDraft;
  invoiceId: string;
  reading: ChargeReading;
  context: BillingContext;
  isDueJob: boolean;
}

/** The result of a try; the caller passes `toWrite` to `writeDecisions`. */
export type ChargeTryResult = { toWrite: DecisionToWrite } & (
  | { did: 'ordered' | 'waits' }
  | { did: 'declined'; code: string; paymentId: string }
);

/**
 * Decides tries of a merchant's invoices from their readings, under all locks: each charge is ordered, recorded as
 * failed without being sent, or waits. Each try must have a different wallet.
 *
 * @returns the results, in the order of the tries
 */
export async function tryCharges(tx: Tx, tries: readonly ChargeTry[]): Promise<ChargeTryResult[]> {
  const [first] = tries;
  if (first === undefined) return [];
  const { merchant_id: merchantId } = first.billing.subscription;
  const wallets = await lockWallets(tx, merchantId, tries);
  const decided = tries.map((chargeTry, i) => decideTry(chargeTry, wallets[i]));
  const charged = decided.flatMap((one) =>
    one.decision.did === 'waits' ? [] : { ...one, decision: one.decision },
  );
  const made = await insertCharges(
    tx,
    charged.map(({ chargeTry, decision }) => ({
      charge: newChargeOf(chargeTry, decision),
      context: chargeTry.context,
    })),
  );
  const charges = new Map(charged.map(({ chargeTry }, i) => [chargeTry, made[i]]));
  const results = decided.map((one) => resultOf(one, charges.get(one.chargeTry)));
  const orders = results.flatMap(({ order }) => order ?? []);
  // The last try has the latest reading of the clock.
  await orderCharges(tx, merchantId, orders, tries.at(-1)?.context.time ?? first.context.time);
  if (orders.length > 0) crashPoint('billing.charge-ordered');
  return results.map(({ result }) => result);
}

/** A locked method, and the amounts that other charges use of its wallet and cap. */
interface LockedWallet {
  method: PaymentMethodRow;
  /** Sum of the pending charges of its wallet. */
  pendingCharges: bigint;
  /** The used part of its cap in this window. */
  used: bigint;
}

/** Locks the methods with all other methods of their wallets, because they share a balance. */
async function lockWallets(tx: Tx, merchantId: string, tries: readonly ChargeTry[]): Promise<LockedWallet[]> {
  const wallets = tries.map(({ reading }) => walletOf(reading.method));
  const windows = tries.map(({ billing: { subscription, facts }, reading, draft }) => ({
    subscriptionId: subscription.subscription_id,
    methodId: reading.method.payment_method_id,
    start: chargeWindowAt(facts.subscription, draft.now).start,
  }));
  const [methods, open, caps] = await pipeline(
    tx,
    walletsLock(merchantId, wallets),
    openChargesOf(merchantId, wallets),
    capsUsed(merchantId, windows),
  );
  const locked = new Map(methods.map((method) => [method.payment_method_id, method]));
  return windows.map(({ methodId }, i) => {
    const method = locked.get(methodId);
    invariant(method !== undefined, 'a payment method is never deleted');
    return { method, pendingCharges: BigInt(open[i]?.total ?? 0), used: caps[i]?.used ?? 0n };
  });
}

/** A decided try, before its payment is created. */
interface DecidedTry {
  chargeTry: ChargeTry;
  decision: TryDecision;
  method: PaymentMethodRow;
}

function decideTry(chargeTry: ChargeTry, wallet: LockedWallet | undefined): DecidedTry {
  invariant(wallet !== undefined, 'each wallet that is charged is locked');
  const { draft, invoiceId, reading } = chargeTry;
  const decision = tryCharge(draft, invoiceId, checkCharge(reading, wallet));
  return { chargeTry, decision, method: wallet.method };
}

/** @param charge its payment; undefined if the try waits */
function resultOf(
  { chargeTry, decision, method }: DecidedTry,
  charge: MadeCharge | undefined,
): { result: ChargeTryResult; order?: OrderedCharge } {
  const { billing: before, draft, invoiceId, context, isDueJob } = chargeTry;
  const toWriteWith = (additions: Additions) => ({
    before,
    decision: draft.decision,
    context,
    additions: { isDueJob, ...additions },
  });
  if (decision.did === 'waits') return { result: { did: 'waits', toWrite: toWriteWith({}) } };
  invariant(charge !== undefined, 'a charge that is tried has a payment');
  const { paymentId } = charge;
  if (decision.did === 'declined') {
    const toWrite = toWriteWith({ charge: { invoiceId, ...charge } });
    return { result: { did: 'declined', code: decision.code, paymentId, toWrite } };
  }
  const { capUse } = decision;
  orderedCharge(draft, invoiceId, { capUse, paymentId });
  const { start: windowStart, end: windowEnd } = chargeWindowAt(draft.subscription, draft.now);
  const { subscription_id: subscriptionId } = before.subscription;
  const { trace } = context;
  const order = { paymentId, method, amount: capUse.amount, subscriptionId, windowStart, windowEnd, trace };
  return { result: { did: 'ordered', toWrite: toWriteWith({ charge: { invoiceId, ...charge } }) }, order };
}

/** Checks a reading under the locks, against the method's status and the other charges of its wallet and cap. */
function checkCharge(
  { mandate, quote }: ChargeReading,
  { method, pendingCharges, used }: LockedWallet,
): ChargeCheck {
  // Revoked by an API call; on the chain the mandate may still be active.
  if (method.status === 'revoked') return { kind: 'declined', code: 'mandate_revoked' };
  if (quote === undefined) return { kind: 'unavailable' };
  const amount = quote.pay_amount;
  const code = declineCode(mandate, amount);
  if (code !== undefined) return { kind: 'declined', code };
  if (mustWait(mandate, amount, pendingCharges)) return { kind: 'unavailable' };
  return { kind: 'ready', methodId: method.payment_method_id, amount, cap: method.cap_amount, used };
}

function newChargeOf(
  { billing: { subscription, facts }, invoiceId, reading }: ChargeTry,
  decision: Exclude<TryDecision, { did: 'waits' }>,
): NewCharge {
  const { merchant_id: merchantId, store_id: storeId, customer, currency } = subscription;
  const invoice = facts.invoices.find(({ id }) => id === invoiceId);
  invariant(invoice !== undefined, 'an invoice that is tried is open');
  const { currency: token, network, wallet_address: wallet, recipient } = reading.method;
  return {
    merchantId,
    storeId,
    invoiceId,
    customer,
    amount: invoice.amount,
    currency,
    method: { currency: token, network, wallet, recipient },
    quote: reading.quote ?? null,
    declineCode: decision.did === 'declined' ? decision.code : null,
  };
}
