import { quotesOf, withQuote } from './quotes/quote.ts';
import {
  bindingQuote,
  type QuotedOption,
  type QuoteStatus,
  quoteStatus,
  type ReceivedMoney,
} from './quotes/quote-status.ts';
import type { OptionRow, PaymentView } from './reads/queries.ts';
import type { PaymentFacts } from './states.ts';

// The facts of a payment that decisions (`states.ts`) are made from, read out of its rows. Pure.

const secondsOf = (value: bigint | number | null) => (value === null ? null : Number(value));

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
export function atBindingQuote(view: PaymentView): PaymentView {
  const option = quotedByMoney(view);
  if (option === undefined || option.earlier_quotes.length === 0) return view;
  const quotes = quotesOf(view.payment, option).map((quote) => quotedOption(view, quote));
  const binding = bindingQuote(quotes, moneyOf(view));
  if (binding === undefined) return view;
  const restored = withQuote(view.payment, option, binding);
  return { ...view, options: view.options.map((one) => (one === option ? restored : one)) };
}

export function factsOf(view: PaymentView): PaymentFacts {
  const { payment, transactions } = view;
  const isDue = isQuoteDue(view);
  return {
    status: payment.status,
    expiresAt: secondsOf(payment.expires_at),
    canceledAt: secondsOf(payment.canceled_at),
    closedAt: secondsOf(payment.closed_at),
    completedAt: secondsOf(payment.completed_at),
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

/** The option that counts now: the fixed, else the last chosen one. */
export function currentOption(view: PaymentView) {
  const { payment, options } = view;
  if (payment.fixed_currency !== null) return fixedOptionOf(view);
  return options.find((o) => o.currency === payment.chosen_currency && o.network === payment.chosen_network);
}
