import { listOpenInvoices } from '../invoices/billing/index.ts';
import type { InvoiceRow } from '../invoices/index.ts';
import type { ChargeNeeds } from '../payment-methods/index.ts';
import { quoteCharge } from '../payments/charges/index.ts';
import { Fail } from '../platform/fail.ts';
import { listOfMethods } from './billing-queries.ts';
import { takeCredit } from './decide/proration.ts';
import type { SubscriptionDeps } from './deps.ts';
import type { SubscriptionRow } from './queries.ts';
import { sumOf } from './rows.ts';

/** The next payment of a subscription. */
interface Need {
  methodId: string;
  amount: bigint;
  currency: string;
  at: bigint | number;
}

/**
 * The next amount that each mandate has to pay, in units of its token: the oldest open invoice, or else the next one,
 * so that a customer with too little money is warned before it is due. Without a rate a mandate has no entry.
 */
export function chargeNeeds(deps: Pick<SubscriptionDeps, 'rates'>): ChargeNeeds {
  return async (db, merchant, methods) => {
    const { merchantId } = merchant;
    const byId = new Map(methods.map((method) => [method.payment_method_id, method]));
    const subscriptions = await listOfMethods(db, merchantId, [...byId.keys()]);
    if (subscriptions.length === 0) return new Map();
    const open = await listOpenInvoices(
      db,
      merchantId,
      subscriptions.map((row) => row.subscription_id),
    );
    const firstOf = (row: SubscriptionRow) => open.find((one) => one.subscription_id === row.subscription_id);
    const next = new Map<string, Need>();
    for (const row of subscriptions) {
      const need = needOf(row, firstOf(row));
      const known = next.get(need.methodId);
      if (need.amount > 0n && (known === undefined || need.at < known.at)) next.set(need.methodId, need);
    }
    const rates = eachOnce(deps.rates);
    const needs = new Map<string, bigint>();
    for (const { methodId, ...price } of next.values()) {
      const method = byId.get(methodId);
      const quote =
        method && (await quoteCharge({ rates }, merchant, price, method.currency).catch(ofUnpayable));
      if (quote !== undefined) needs.set(methodId, quote.pay_amount);
    }
    return needs;
  };
}

type QuotedRates = SubscriptionDeps['rates'];

/** Many methods share few pairs of currencies, so each rate is read once for all of them. */
function eachOnce(rates: QuotedRates): QuotedRates {
  const quotes = new Map<string, ReturnType<QuotedRates['quote']>>();
  return {
    quote: (request) => {
      const pair = `${request.currency}/${request.token}`;
      const answer = quotes.get(pair) ?? rates.quote(request);
      quotes.set(pair, answer);
      return answer;
    },
  };
}

/** @param open the invoice to pay first; undefined: the next period's */
export function needOf(row: SubscriptionRow, open: InvoiceRow | undefined): Need {
  const { currency, credit_amount: credit } = row;
  const methodId = row.payment_method_id ?? '';
  if (open !== undefined) return { methodId, currency, amount: open.amount_due, at: open.created_at };
  const at = row.current_period_end;
  if (row.cancel_at !== null && row.cancel_at <= at) return { methodId, currency, amount: 0n, at };
  const sum = row.pending_items === null ? row.amount : sumOf(row.pending_items);
  return { methodId, currency, amount: takeCredit(sum, credit).amount, at };
}

/** A price that is too large to be paid in a token. */
function ofUnpayable(error: unknown): undefined {
  if (!(error instanceof Fail)) throw error;
}
