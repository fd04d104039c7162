import { capsUsed, type InvoiceRow } from '../invoices/index.ts';
import {
  declineCode,
  type MandateReading,
  mustWait,
  type OrderedCharge,
  orderCharges,
  type PaymentMethodRow,
  readMandate,
  readPaymentMethod,
  walletOf,
  walletsLock,
} from '../payment-methods/index.ts';
import {
  type ChargeQuote,
  insertCharges,
  type MadeCharge,
  type NewCharge,
  quoteCharge,
} from '../payments/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { pipeline } from '../platform/db/index.ts';
import { Fail, invariant } from '../platform/fail.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import type { Merchant } from '../stores/index.ts';
import { openChargesOf } from '../transfers/index.ts';
import type { Billing } from './billing.ts';
import { type Attempt, orderedCharge, type Reading, tryCharge, windowAt } from './decide/charge.ts';
import type { Draft } from './decide/draft.ts';
import type { BillingContext, SubscriptionDeps } from './deps.ts';
import type { Additions, Written } from './write-decisions.ts';

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

/** A try of an invoice, to be decided under the lock of its subscription. */
export interface Trial {
  billing: Billing;
  draft: Draft;
  invoiceId: string;
  read: ChargeReading;
  context: BillingContext;
  isDueJob: boolean;
}

/** What came of a try, which `writeDecisions` is to write. */
export type Tried = { written: Written } & (
  | { did: 'ordered' | 'waits' }
  | { did: 'declined'; code: string; paymentId: string }
);

/**
 * Decides tries of a merchant's invoices with what was read, under all locks: each charge is ordered, or recorded as failed
 * without being sent, or waits. No two are of one wallet.
 *
 * @returns what came of each, in their order
 */
export async function tryCharges(tx: Tx, trials: readonly Trial[]): Promise<Tried[]> {
  const [first] = trials;
  if (first === undefined) return [];
  const { merchant_id: merchantId } = first.billing.subscription;
  const taken = await lockWallets(tx, merchantId, trials);
  const attempts = trials.map((trial, i) => attemptOf(trial, taken[i]));
  const charged = attempts.flatMap((one) =>
    one.attempt.did === 'waits' ? [] : { ...one, attempt: one.attempt },
  );
  const made = await insertCharges(
    tx,
    charged.map(({ trial, attempt }) => ({ charge: chargeOf(trial, attempt), context: trial.context })),
  );
  const charges = new Map(charged.map(({ trial }, i) => [trial, made[i]]));
  const tried = attempts.map((one) => triedOf(one, charges.get(one.trial)));
  const orders = tried.flatMap(({ order }) => order ?? []);
  // The one that came last has read the clock last.
  await orderCharges(tx, merchantId, orders, trials.at(-1)?.context.time ?? first.context.time);
  if (orders.length > 0) crashPoint('billing.charge-ordered');
  return tried.map(({ result }) => result);
}

/** A method under its lock, and what other charges take. */
interface Taken {
  method: PaymentMethodRow;
  /** Out of its wallet: what is on its way. */
  onTheirWay: bigint;
  /** Of its cap in this window. */
  used: bigint;
}

/** Locks methods with all others of their wallets, as what one of them takes the others cannot. */
async function lockWallets(tx: Tx, merchantId: string, trials: readonly Trial[]): Promise<Taken[]> {
  const wallets = trials.map(({ read }) => walletOf(read.method));
  const windows = trials.map(({ billing: { subscription, facts }, read, draft }) => ({
    subscriptionId: subscription.subscription_id,
    methodId: read.method.payment_method_id,
    start: windowAt(facts.subscription, draft.now).start,
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
    return { method, onTheirWay: BigInt(open[i]?.total ?? 0), used: caps[i]?.used ?? 0n };
  });
}

/** A try as it is decided, before its payment is made. */
interface Decided {
  trial: Trial;
  attempt: Attempt;
  method: PaymentMethodRow;
}

function attemptOf(trial: Trial, taken: Taken | undefined): Decided {
  invariant(taken !== undefined, 'each wallet that is charged is locked');
  const { draft, invoiceId, read } = trial;
  return { trial, attempt: tryCharge(draft, invoiceId, judge(read, taken)), method: taken.method };
}

/** @param charge its payment; undefined where it waits */
function triedOf(
  { trial, attempt, method }: Decided,
  charge: MadeCharge | undefined,
): { result: Tried; order?: OrderedCharge } {
  const { billing: before, draft, invoiceId, context, isDueJob } = trial;
  const writtenWith = (additions: Additions) => ({
    before,
    decision: draft.decision,
    context,
    additions: { isDueJob, ...additions },
  });
  if (attempt.did === 'waits') return { result: { did: 'waits', written: writtenWith({}) } };
  invariant(charge !== undefined, 'a charge that is tried has a payment');
  const { paymentId } = charge;
  if (attempt.did === 'declined') {
    const written = writtenWith({ charge: { invoiceId, ...charge } });
    return { result: { did: 'declined', code: attempt.code, paymentId, written } };
  }
  const { capUse } = attempt;
  orderedCharge(draft, invoiceId, { capUse, paymentId });
  const { start: windowStart, end: windowEnd } = windowAt(draft.subscription, draft.now);
  const { subscription_id: subscriptionId } = before.subscription;
  const { trace } = context;
  const order = { paymentId, method, amount: capUse.amount, subscriptionId, windowStart, windowEnd, trace };
  return { result: { did: 'ordered', written: writtenWith({ charge: { invoiceId, ...charge } }) }, order };
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

function chargeOf(
  { billing: { subscription, facts }, invoiceId, read }: Trial,
  attempt: Exclude<Attempt, { did: 'waits' }>,
): NewCharge {
  const { merchant_id: merchantId, store_id: storeId, customer, currency } = subscription;
  const amount = facts.invoices.find(({ id }) => id === invoiceId)?.amount ?? 0n;
  const { currency: token, network, wallet_address: wallet, recipient } = read.method;
  return {
    merchantId,
    storeId,
    invoiceId,
    customer,
    amount,
    currency,
    method: { currency: token, network, wallet, recipient },
    quote: read.quote ?? null,
    declineCode: attempt.did === 'declined' ? attempt.code : null,
  };
}
