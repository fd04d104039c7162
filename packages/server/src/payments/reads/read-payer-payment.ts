import type { Payment, PaymentOption } from '@florin/contract/schemas';
import { Fail } from '../../platform/fail.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { rulesOf } from '../change-payment.ts';
import { chooseOption } from '../choose-option.ts';
import { type MerchantRef, type PaymentDeps, paymentSettings } from '../deps.ts';
import { currentOption, isQuoteDue, quoteStatusOf } from '../facts.ts';
import { presentPayment } from './present.ts';
import { type PaymentView, readPayment } from './queries.ts';

/** A payment with what its payer's page shows of it. */
export interface PayerPayment {
  view: PaymentView;
  shown: Payment;
  /** What may be missing of the current option's amount. */
  tolerance: bigint;
  /** The current option's quote has ended, and there is no rate for a new one. */
  lacksRate: boolean;
  /** Money that came in time keeps the current option's quote. */
  isQuoteBinding: boolean;
}

type Payable = MerchantRef & { isSuspended: boolean };

interface PayableSession {
  payment_id: string;
  options: readonly PaymentOption[];
}

/** Reads a payment for its payer. Renews a quote that has ended, so that no page shows an invalid rate. */
export async function readPayerPayment(
  deps: PaymentDeps,
  merchant: Payable,
  session: PayableSession,
): Promise<PayerPayment> {
  const known = await readPayment(deps.db, merchant.merchantId, session.payment_id);
  const { view, lacksRate } = await withFreshQuote(deps, merchant, session, known);
  const rules = rulesOf(view, await paymentSettings(deps, merchant));
  const option = currentOption(view);
  const { seconds } = merchantTime(deps, merchant);
  const isQuoteBinding = option !== undefined && quoteStatusOf(view, option, seconds) === 'binding';
  return { view, shown: presentPayment(view, rules), tolerance: rules.tolerance, lacksRate, isQuoteBinding };
}

async function withFreshQuote(
  deps: PaymentDeps,
  merchant: Payable,
  session: PayableSession,
  view: PaymentView,
): Promise<{ view: PaymentView; lacksRate: boolean }> {
  const { payment } = view;
  const option = currentOption(view);
  const { seconds } = merchantTime(deps, merchant);
  // Also while dust is processing, since dust locks no quote.
  const isUnpaid = payment.status === 'pending' || payment.status === 'processing';
  const isOpen = isUnpaid && (payment.expires_at === null || seconds < Number(payment.expires_at));
  if (merchant.isSuspended || !isOpen || option === undefined) return { view, lacksRate: false };
  if (isQuoteDue(view)) return { view, lacksRate: true };
  if (quoteStatusOf(view, option, seconds) !== 'over') return { view, lacksRate: false };
  try {
    return { view: await chooseOption(deps, merchant, session, option), lacksRate: false };
  } catch (error) {
    if (!(error instanceof Fail) || error.code !== 'service_unavailable') throw error;
    return { view, lacksRate: true };
  }
}
