import type { Asset, Network } from '@florin/contract/money';
import type { EventType, PaymentStatus } from '@florin/contract/schemas';
import type { Change } from '../../events/index.ts';
import { type Posting, post, postAll } from '../../ledger/index.ts';
import { newId } from '../../platform/db/ids/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { invariant } from '../../platform/fail.ts';
import { RateRefused } from '../../rates/index.ts';
import { arrivalPostings, lostPostings, minedAgainPostings, releaseHeldPostings } from '../books/postings.ts';
import { paymentChange } from '../change-payment.ts';
import type { MerchantRef, PaymentContext, PaymentDeps } from '../deps.ts';
import { fixedOptionOf } from '../facts.ts';
import { type Quote, quoteOf, readRate } from '../quotes/quote.ts';
import { lockPayment, type PaymentView } from '../reads/queries.ts';
import { afterCharge, type ChargeSettlement } from '../states.ts';
import {
  type ChargeChange,
  insertChargeRows,
  lockCharges,
  markPulled,
  type NewChargeRow,
  writeEnds,
} from './charge-queries.ts';

// The payment of a charge is created together with the order to pull, and ends with the outcome of that. Its events are
// returned instead of recorded: payment, invoice and subscription change together, and their events have one order.

/** Rate and amount of a charge, in the token of the payer's mandate. */
export type ChargeQuote = Pick<Quote, 'exchange_rate' | 'pay_amount'>;

export interface NewCharge {
  merchantId: string;
  storeId: string;
  invoiceId: string;
  /** The external id. */
  customer: string;
  amount: bigint;
  currency: string;
  /** The charged wallet, proven by its mandate, and the wallet that receives the money. */
  method: { currency: Asset; network: Network; wallet: string; recipient: string };
  /** Null: the charge is recorded as failed without being sent, so no rate was needed. */
  quote: ChargeQuote | null;
  /** Why it failed without being sent; null: it is sent now. */
  declineCode: string | null;
}

/**
 * Quotes a charge. Call it before the transaction, for each attempt anew.
 *
 * @returns undefined while there is no rate
 * @throws Fail `invalid_request` if the price is too large to be paid in a token
 */
export async function quoteCharge(
  deps: Pick<PaymentDeps, 'rates'>,
  merchant: Pick<MerchantRef, 'merchantId' | 'mode'>,
  price: { amount: bigint; currency: string },
  token: Asset,
): Promise<ChargeQuote | undefined> {
  try {
    const rate = await readRate(deps, merchant, price.currency, token);
    // The charge follows at once, so the quote has no lifetime.
    const { exchange_rate, pay_amount } = quoteOf(price, token, rate, { quotedAt: 0, seconds: 0 });
    return { exchange_rate, pay_amount };
  } catch (error) {
    if (error instanceof RateRefused) return undefined;
    throw error;
  }
}

/** The created payment of a charge. Its id is the owner and the group of the transfer. */
export interface MadeCharge {
  paymentId: string;
  /** The event of a charge that failed without being sent. */
  change: Change | undefined;
}

/** Creates the payments of a merchant's charges. @returns them in their order */
export async function insertCharges(
  tx: Tx,
  charges: readonly { charge: NewCharge; context: PaymentContext }[],
): Promise<MadeCharge[]> {
  const rows = charges.map(({ charge, context }) => rowOf(charge, context.time.seconds));
  const views = await insertChargeRows(tx, rows);
  return charges.map(({ charge, context }, i) => {
    const after = views[i];
    invariant(after !== undefined, 'each charge that is made has a payment');
    const paymentId = after.payment.payment_id;
    if (charge.declineCode === null) return { paymentId, change: undefined };
    return { paymentId, change: paymentChange({ before: null, after }, 'payment.failed', context) };
  });
}

function rowOf(charge: NewCharge, nowSeconds: number): NewChargeRow {
  const { method, quote, declineCode } = charge;
  invariant(quote !== null || declineCode !== null, 'a charge is ordered at a quote');
  return {
    status: declineCode === null ? 'processing' : 'failed',
    decline_code: declineCode,
    merchant_id: charge.merchantId,
    payment_id: newId(),
    store_id: charge.storeId,
    invoice_id: charge.invoiceId,
    customer: charge.customer,
    amount: charge.amount,
    currency: charge.currency,
    wallet_address: method.wallet,
    created_at: nowSeconds,
    option: quote && {
      currency: method.currency,
      network: method.network,
      address: method.recipient,
      ...quote,
    },
  };
}

interface ChargeKey {
  merchantId: string;
  paymentId: string;
}

/** A successful charge as the chain shows it. */
export interface Pulled {
  txId: string;
  /**
   * False: the invoice is already paid or void. The money is booked in `held`, can be refunded, and completes nothing.
   */
  isNeeded: boolean;
  /** Its wallet was sanctioned while it was pending: the money is seized and pays nothing until people decide. */
  isSanctioned: boolean;
}

/** The end of a charge that was sent. */
export interface EndedCharge {
  paymentId: string;
  /** The pulled money, or why nothing was pulled. */
  outcome: Pulled | { declineCode: string };
  context: PaymentContext;
}

/** A charge that ends in a transaction, with the postings that the transaction has to book before it commits. */
export interface SettledCharge {
  change: Change;
  /** Empty if it took nothing. */
  journal: readonly Posting[];
  /** The merchant's clock. */
  seconds: number;
}

/**
 * Writes the ends of a merchant's charges, each once. Call `bookCharges` in the same transaction afterwards.
 *
 * @returns the event and the postings of each, in their order; undefined for a charge that had ended before
 * @throws if there is no such charge
 */
export async function endCharges(
  tx: Tx,
  merchantId: string,
  charges: readonly EndedCharge[],
): Promise<(SettledCharge | undefined)[]> {
  const ids = charges.map(({ paymentId }) => paymentId);
  const locked = await lockCharges(tx, merchantId, ids);
  const ends = charges.map((charge) => {
    const before = locked.get(charge.paymentId);
    if (before === undefined) throw new Error(`there is no charge ${charge.paymentId}`);
    return decideEnd(before, charge);
  });
  const views = new Map(
    (
      await writeEnds(
        tx,
        ends.flatMap((end) => end ?? []),
      )
    ).map((view) => [view.payment.payment_id, view]),
  );
  return charges.map(({ paymentId, context }, i) => {
    const [end, after] = [ends[i], views.get(paymentId)];
    if (end === undefined || after === undefined) return undefined;
    const change = paymentChange(
      { before: end.before, after },
      EVENTS[end.end.status] ?? 'payment.updated',
      context,
    );
    return { change, journal: end.journal, seconds: context.time.seconds };
  });
}

/** Undefined if it was decided before. */
function decideEnd(
  before: PaymentView,
  { paymentId, outcome, context }: EndedCharge,
): (ChargeChange & { journal: Posting[] }) | undefined {
  if ('declineCode' in outcome) {
    const status = outcomeOf(before, 'failed');
    return status && { before, end: { status, decline_code: outcome.declineCode }, journal: [] };
  }
  const { txId, isNeeded, isSanctioned } = outcome;
  const made = isNeeded ? 'made' : 'unneeded';
  const status = outcomeOf(before, isSanctioned ? 'seized' : made);
  if (status === undefined) return undefined;
  const { seconds } = context.time;
  const { currency, network, pay_amount: amount, address } = optionOf(before);
  const kind = isSanctioned ? 'seized' : 'counted';
  const pulled = {
    merchant_id: before.payment.merchant_id,
    payment_id: paymentId,
    network,
    tx_id: txId,
    currency,
    address,
    sender: before.payment.wallet_address ?? '',
    amount,
    kind,
    seen_at: seconds,
  } as const;
  const end = isSanctioned ? {} : { received_amount: amount, ...endOf(isNeeded, amount, seconds) };
  const journal = arrivalPostings(paymentId, { currency, network, amount, kind }, isNeeded);
  return { before, end: { status, ...end }, pulled, journal };
}

const EVENTS: Partial<Record<PaymentStatus, EventType>> = {
  completed: 'payment.completed',
  failed: 'payment.failed',
  frozen: 'payment.failed',
};

/** Undefined if it was decided before: a released charge is pending again, but not on the chain. */
function outcomeOf({ payment }: PaymentView, outcome: ChargeSettlement): PaymentStatus | undefined {
  return payment.received_amount > 0n ? undefined : afterCharge(payment.status, outcome);
}

function endOf(isNeeded: boolean, amount: bigint, seconds: number) {
  return isNeeded ? { completed_at: seconds, held_amount: 0n } : { closed_at: seconds, held_amount: amount };
}

/**
 * Completes a charge that two people have released. It pays its invoice as if it arrived now. If the invoice no longer
 * needs it or has another amount by now, the money goes to `held`. Call `bookCharges` in the same transaction
 * afterwards.
 *
 * @param invoiceAmount the amount of the invoice; undefined if no invoice needs the money
 * @returns whether it pays, its event and its postings; undefined if nothing was released
 */
export async function completeReleased(
  tx: Tx,
  { merchantId, paymentId }: ChargeKey,
  invoiceAmount: bigint | undefined,
  context: PaymentContext,
): Promise<(SettledCharge & { isNeeded: boolean }) | undefined> {
  const before = await lockPayment(tx, merchantId, paymentId);
  const isReleased = before.transactions.some((t) => t.pulled && t.decision === 'released');
  const isNeeded = invoiceAmount === before.payment.amount;
  const status = afterCharge(before.payment.status, isNeeded ? 'made' : 'unneeded');
  if (!isReleased || status === undefined) return undefined;
  const { seconds } = context.time;
  const { currency, network } = optionOf(before);
  const amount = before.payment.held_amount;
  const [after] = await writeEnds(tx, [{ before, end: { status, ...endOf(isNeeded, amount, seconds) } }]);
  invariant(after !== undefined, 'each charge that ends is written');
  const change = paymentChange({ before, after }, EVENTS[status] ?? 'payment.updated', context);
  const journal = isNeeded ? releaseHeldPostings(paymentId, { currency, network, amount }) : [];
  return { change, journal, seconds, isNeeded };
}

/** Books a merchant's charges. Call it last: other bookings wait for these rows until the transaction ends. */
export async function bookCharges(
  tx: Tx,
  merchantId: string,
  charges: readonly SettledCharge[],
): Promise<void> {
  for (const [seconds, together] of Map.groupBy(charges, (charge) => charge.seconds)) {
    const journals = together.map(({ journal }) => journal);
    await postAll(tx, merchantId, journals, seconds);
  }
}

/**
 * Books the loss of a credited charge whose transaction was removed by a reorganisation deeper than finality. The
 * merchant keeps the money, the operator bears the loss.
 *
 * @returns false if it is not credited, or already known to be lost
 */
export async function loseCharge(
  tx: Tx,
  charge: ChargeKey,
  { seconds }: { seconds: number },
): Promise<boolean> {
  await lockPayment(tx, charge.merchantId, charge.paymentId);
  const coins = await markPulled(tx, charge, seconds);
  if (coins !== undefined) await post(tx, charge.merchantId, lostPostings(coins), seconds);
  return coins !== undefined;
}

/** Undoes `loseCharge`: the transaction is in a final block again. */
export async function regainCharge(
  tx: Tx,
  charge: ChargeKey,
  { seconds }: { seconds: number },
): Promise<void> {
  await lockPayment(tx, charge.merchantId, charge.paymentId);
  const coins = await markPulled(tx, charge, null);
  if (coins !== undefined)
    await post(tx, charge.merchantId, minedAgainPostings(charge.paymentId, coins), seconds);
}

function optionOf(view: PaymentView) {
  const option = fixedOptionOf(view);
  if (option === undefined) throw new Error('a charge is made of what it was quoted');
  return option;
}
