import type { Payment, PaymentTransaction } from '@florin/contract/schemas';
import { encodeId } from '../../tenancy/index.ts';
import { quotesOf, withQuote } from '../quotes/quote.ts';
import {
  lockedQuote,
  type QuotedOption,
  type QuoteStatus,
  quoteStatus,
  type ReceivedMoney,
} from '../quotes/quote-status.ts';
import type { PaymentFacts, Rules } from '../states.ts';
import { exceptionsOf } from '../states.ts';
import type { OptionRow, PaymentView, TransactionRow } from './queries.ts';

const seconds = (value: bigint | number | null) => (value === null ? null : Number(value));

/** The option that the first money fixed. */
export function fixedOptionOf({ payment, options }: PaymentView) {
  return options.find((o) => o.currency === payment.fixed_currency && o.network === payment.fixed_network);
}

/** @param option the one that counts now */
export function quoteStatusOf(view: PaymentView, option: OptionRow, nowSeconds: number): QuoteStatus {
  return quoteStatus(quotedOption(view, option), moneyOf(view), nowSeconds);
}

/** What of the counted money went back to the payer, or is on its way. */
export const returnedAmount = ({ payment }: PaymentView): bigint =>
  payment.refunded_amount + payment.refunding_amount;

const moneyOf = (view: PaymentView): ReceivedMoney => ({
  transfers: view.transactions,
  refunded: returnedAmount(view),
});

function quotedOption<O extends OptionRow>({ payment }: PaymentView, option: O): O & QuotedOption {
  // Scaled, not requoted: at another rate the earlier amount may exceed what a token can carry.
  const earlierAmounts = payment.earlier_amounts.map(({ amount, until }) => ({
    until,
    payAmount: (option.pay_amount * BigInt(amount)) / payment.amount,
  }));
  return { ...option, earlierAmounts };
}

/** Payments whose quote cannot change any more. */
const SETTLED = new Set<PaymentView['payment']['status']>(['completed', 'failed']);

/** The fixed option, if the value of its money depends on the quote. */
function quotedByMoney(view: PaymentView): OptionRow | undefined {
  const { payment } = view;
  const option = fixedOptionOf(view);
  // A charge pulls exactly its quote; a price in the token itself is equal in every quote.
  if (option === undefined || option.watch === null || option.currency === payment.currency) return undefined;
  return SETTLED.has(payment.status) || payment.closed_at !== null ? undefined : option;
}

/** Money came too late for its option's quote, and there is no new quote yet. */
export function isQuoteDue(view: PaymentView): boolean {
  const option = quotedByMoney(view);
  return option !== undefined && quoteStatusOf(view, option, 0) === 'due';
}

/** The payment at the quote at which its money counts: an earlier one if the money was sent then and seen late. */
export function atLockedQuote(view: PaymentView): PaymentView {
  const option = quotedByMoney(view);
  if (option === undefined || option.earlier_quotes.length === 0) return view;
  const quotes = quotesOf(view.payment, option).map((quote) => quotedOption(view, quote));
  const locked = lockedQuote(quotes, moneyOf(view));
  if (locked === undefined) return view;
  const restored = withQuote(view.payment, option, locked);
  return { ...view, options: view.options.map((one) => (one === option ? restored : one)) };
}

export function factsOf(view: PaymentView): PaymentFacts {
  const { payment, transactions } = view;
  const isDue = isQuoteDue(view);
  return {
    status: payment.status,
    expiresAt: seconds(payment.expires_at),
    canceledAt: seconds(payment.canceled_at),
    closedAt: seconds(payment.closed_at),
    completedAt: seconds(payment.completed_at),
    payAmount: (isDue ? undefined : fixedOptionOf(view)?.pay_amount) ?? null,
    isQuoteDue: isDue,
    refunded: payment.refunded_amount,
    refunding: payment.refunding_amount,
    transactions: transactions.map((t) => ({
      kind: t.kind,
      status: t.status,
      amount: t.amount,
      seenAt: Number(t.seen_at),
      isDecided: t.decision !== null,
    })),
  };
}

function presentTransaction(row: TransactionRow, { heights }: PaymentView): PaymentTransaction {
  const above = Number((heights.get(row.network) ?? BigInt(row.height)) - BigInt(row.height)) + 1;
  const required = row.required_confirmations;
  const confirmations = {
    seen: Math.max(0, Math.min(above, required)),
    final: required,
    gone: 0,
  };
  return {
    tx_id: row.tx_id,
    index: row.index,
    currency: row.currency,
    network: row.network,
    address: row.address,
    from: row.sender,
    amount: Number(row.amount),
    kind: row.kind,
    confirmations: confirmations[row.status],
    required_confirmations: required,
    status: row.status,
    seen_at: Number(row.seen_at),
    final_at: seconds(row.final_at),
  };
}

/** The option that counts now: the fixed, else the last chosen one. */
export function currentOption(view: PaymentView) {
  const { payment, options } = view;
  if (payment.fixed_currency !== null) return fixedOptionOf(view);
  return options.find((o) => o.currency === payment.chosen_currency && o.network === payment.chosen_network);
}

export function presentPayment(view: PaymentView, rules: Rules): Payment {
  const { payment, transactions } = view;
  const option = currentOption(view);
  return {
    id: encodeId('payment', payment.payment_id),
    object: 'payment',
    store_id: encodeId('store', payment.store_id),
    checkout_session: payment.session_id && encodeId('checkoutSession', payment.session_id),
    invoice: payment.invoice_id && encodeId('invoice', payment.invoice_id),
    customer: payment.customer,
    order_id: payment.order_id,
    amount: Number(payment.amount),
    currency: payment.currency,
    status: payment.status,
    pay_currency: option?.currency ?? null,
    network: option?.network ?? null,
    pay_amount: option === undefined ? null : Number(option.pay_amount),
    exchange_rate: option?.exchange_rate ?? null,
    // The hot wallet, which receives charges, is never shown to payers.
    address: option === undefined || option.watch === null ? null : option.address,
    amount_received: Number(payment.received_amount),
    amount_refunded: Number(payment.refunded_amount),
    exceptions: exceptionsOf(factsOf(view), rules),
    transactions: transactions.map((row) => presentTransaction(row, view)),
    decline_code: payment.decline_code,
    created: Number(payment.created_at),
    completed_at: seconds(payment.completed_at),
    expires_at: seconds(payment.expires_at),
    metadata: payment.metadata,
  };
}
