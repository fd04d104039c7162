import type { Asset, Network } from '@florin/contract/money';
import type { EventType, PaymentStatus } from '@florin/contract/schemas';
import type { Change } from '../events/index.ts';
import { type Posting, post, postAll } from '../ledger/index.ts';
import type { Tx } from '../platform/db/index.ts';
import { newId } from '../platform/db/index.ts';
import { RateRefused } from '../rates/index.ts';
import { paymentChange } from './change-payment.ts';
import {
  endCharge,
  insertPulled,
  insertCharge as insertRow,
  lockCharge,
  markPulled,
  type NewChargeRow,
} from './charge-queries.ts';
import type { MerchantRef, PaymentContext, PaymentDeps } from './deps.ts';
import { arrivalPostings, lostPostings, minedAgainPostings, releaseHeldPostings } from './postings.ts';
import { fixedOptionOf } from './present.ts';
import { lockPayment, type PaymentView } from './queries.ts';
import { type Quote, quoteOf, readRate } from './quote.ts';
import { afterCharge, type ChargeOutcome } from './states.ts';

// The payment of a charge is made with the order to pull and ends with what became of that. Its events are returned
// instead of recorded: payment, invoice and subscription change together, and their events have one order.

/** What a charge takes, in the token of the payer's mandate. */
export type ChargeQuote = Pick<Quote, 'exchange_rate' | 'pay_amount'>;

export interface NewCharge {
  merchantId: string;
  storeId: string;
  invoiceId: string;
  /** The external id. */
  customer: string;
  amount: bigint;
  currency: string;
  /** The wallet that is charged, proven by its mandate, and the wallet that it is pulled into. */
  method: { currency: Asset; network: Network; wallet: string; recipient: string };
  /** Null: none was asked for, as the charge is recorded as failed without having been sent. */
  quote: ChargeQuote | null;
}

/**
 * Asked before the transaction, anew for each attempt. @returns undefined while there is no rate to charge at
 *
 * @throws Fail `invalid_request` where the price is too large to be paid in a token
 */
export async function quoteCharge(
  deps: Pick<PaymentDeps, 'rates'>,
  merchant: Pick<MerchantRef, 'merchantId' | 'mode'>,
  price: { amount: bigint; currency: string },
  token: Asset,
): Promise<ChargeQuote | undefined> {
  try {
    const rate = await readRate(deps, merchant, price.currency, token);
    // It is taken at once.
    const { exchange_rate, pay_amount } = quoteOf(price, token, rate, { quotedAt: 0, seconds: 0 });
    return { exchange_rate, pay_amount };
  } catch (error) {
    if (error instanceof RateRefused) return undefined;
    throw error;
  }
}

/** Makes the payment of a charge that is sent now. @returns its id, which is the transfer's owner and group */
export async function insertCharge(
  tx: Tx,
  charge: NewCharge & { quote: ChargeQuote },
  { time }: Pick<PaymentContext, 'time'>,
): Promise<string> {
  const end = { status: 'processing', decline_code: null } as const;
  return (await insert(tx, charge, end, time.seconds)).payment.payment_id;
}

/** Makes the payment of a charge that failed without being sent. @returns its id, and its event */
export async function recordFailedCharge(
  tx: Tx,
  charge: NewCharge,
  declineCode: string,
  context: PaymentContext,
): Promise<{ paymentId: string; change: Change }> {
  const failed = { status: 'failed', decline_code: declineCode } as const;
  const after = await insert(tx, charge, failed, context.time.seconds);
  const change = paymentChange({ before: null, after }, 'payment.failed', context);
  return { paymentId: after.payment.payment_id, change };
}

async function insert(
  tx: Tx,
  charge: NewCharge,
  end: Pick<NewChargeRow, 'status' | 'decline_code'>,
  nowSeconds: number,
): Promise<PaymentView> {
  const { method, quote } = charge;
  return await insertRow(tx, {
    ...end,
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
  });
}

interface ChargeKey {
  merchantId: string;
  paymentId: string;
}

/** What the chain says of a charge that was made. */
export interface Pulled {
  txId: string;
  /** False: its invoice is paid otherwise or void, so that its money lies in `held`, refundable, and completes nothing. */
  isNeeded: boolean;
  /** Its wallet was listed while it was on its way: what it took is seized, and pays nothing until people decide. */
  isListed: boolean;
}

/** A charge that is credited in a transaction, and what that is to book before it ends. */
export interface CompletedCharge {
  change: Change;
  journal: readonly Posting[];
  /** The merchant's clock. */
  seconds: number;
}

/**
 * Credits a charge that is final; `bookCharges` follows in the same transaction.
 *
 * @returns its event, and what it books; undefined where that has happened before
 */
export async function completeCharge(
  tx: Tx,
  { merchantId, paymentId }: ChargeKey,
  { txId, isNeeded, isListed }: Pulled,
  context: PaymentContext,
): Promise<CompletedCharge | undefined> {
  const before = await lockCharge(tx, { merchantId, paymentId });
  const made = isNeeded ? 'made' : 'unneeded';
  const status = outcomeOf(before, isListed ? 'seized' : made);
  if (status === undefined) return undefined;
  const { seconds } = context.time;
  const { currency, network, pay_amount: amount, address } = optionOf(before);
  const kind = isListed ? 'seized' : 'counted';
  const sender = before.payment.wallet_address ?? '';
  const pulled = await insertPulled(tx, {
    merchant_id: merchantId,
    payment_id: paymentId,
    network,
    tx_id: txId,
    currency,
    address,
    sender,
    amount,
    kind,
    seen_at: seconds,
  });
  const end = isListed ? {} : { received_amount: amount, ...endOf(isNeeded, amount, seconds) };
  const ended = await endCharge(tx, before, { status, ...end });
  const after = { ...ended, transactions: [pulled] };
  const change = paymentChange({ before, after }, EVENTS[status] ?? 'payment.updated', context);
  const journal = arrivalPostings(paymentId, { currency, network, amount, kind }, isNeeded);
  return { change, journal, seconds };
}

const EVENTS: Partial<Record<PaymentStatus, EventType>> = {
  completed: 'payment.completed',
  frozen: 'payment.failed',
};

/** Undefined where it was decided before: one that was released is on its way again, but not on the chain. */
function outcomeOf({ payment }: PaymentView, outcome: ChargeOutcome): PaymentStatus | undefined {
  return payment.received_amount > 0n ? undefined : afterCharge(payment.status, outcome);
}

function endOf(isNeeded: boolean, amount: bigint, seconds: number) {
  return isNeeded ? { completed_at: seconds, held_amount: 0n } : { closed_at: seconds, held_amount: amount };
}

/**
 * A charge that two people have released pays its invoice as if it arrived now, or lies in `held` where that needs it no
 * more, or asks for another amount by now; `bookCharges` follows in the same transaction.
 *
 * @param asked what the invoice asks for; undefined where none needs it
 * @returns whether it pays, its event, and what it books; undefined where there is nothing released to decide
 */
export async function completeReleased(
  tx: Tx,
  { merchantId, paymentId }: ChargeKey,
  asked: bigint | undefined,
  context: PaymentContext,
): Promise<(CompletedCharge & { isNeeded: boolean }) | undefined> {
  const before = await lockPayment(tx, merchantId, paymentId);
  const isReleased = before.transactions.some((t) => t.pulled && t.decision === 'released');
  const isNeeded = asked === before.payment.amount;
  const status = afterCharge(before.payment.status, isNeeded ? 'made' : 'unneeded');
  if (!isReleased || status === undefined) return undefined;
  const { seconds } = context.time;
  const { currency, network } = optionOf(before);
  const amount = before.payment.held_amount;
  const after = await endCharge(tx, before, { status, ...endOf(isNeeded, amount, seconds) });
  const change = paymentChange({ before, after }, EVENTS[status] ?? 'payment.updated', context);
  const journal = isNeeded ? releaseHeldPostings(paymentId, { currency, network, amount }) : [];
  return { change, journal, seconds, isNeeded };
}

/** Books charges of a merchant, last of all: whoever else books waits for these rows until the transaction ends. */
export async function bookCharges(
  tx: Tx,
  merchantId: string,
  charges: readonly CompletedCharge[],
): Promise<void> {
  for (const [seconds, together] of Map.groupBy(charges, (charge) => charge.seconds)) {
    const journals = together.map(({ journal }) => journal);
    await postAll(tx, merchantId, journals, seconds);
  }
}

/** Ends a charge that was sent and took nothing. @returns its event; undefined where that has happened before */
export async function failCharge(
  tx: Tx,
  charge: ChargeKey,
  declineCode: string,
  context: PaymentContext,
): Promise<Change | undefined> {
  const before = await lockCharge(tx, charge);
  const status = outcomeOf(before, 'failed');
  if (status === undefined) return undefined;
  const after = await endCharge(tx, before, { status, decline_code: declineCode });
  return paymentChange({ before, after }, 'payment.failed', context);
}

/**
 * A reorganisation deeper than finality took the transaction of a charge that is credited: the merchant keeps it, the
 * operator bears it.
 *
 * @returns false where it is not credited, or known to be lost
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

/** It is in a final block again. */
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
