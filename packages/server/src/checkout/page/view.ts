import type {
  CheckoutView,
  PageDue,
  PageLanguage,
  PageNotice,
  PageOption,
  PageReceipt,
  PageState,
} from '@florin/contract/checkout-page';
import { formatPrice } from '@florin/contract/currencies';
import { formatTokens } from '@florin/contract/money';
import type { OptionRow, PaymentView, Rules } from '../../payments/index.ts';
import { currentOption, presentPayment, quoteLifeOf } from '../../payments/index.ts';
import type { FoundPage } from './find-page.ts';
import { qrCodeOf } from './qr-code.ts';
import { richLinkOf } from './rich-link.ts';
import { localeOf, NETWORK_NAMES, periodText, timeText } from './shown.ts';

// One function decides all that a payer sees; whoever renders it, in the server or in the browser, only puts it into
// words. Address, amount and code come out of the same row, and nothing comes out of the page's address.

export interface Reading {
  page: FoundPage;
  view: PaymentView;
  rules: Rules;
  language: PageLanguage;
  /** The merchant's clock. */
  nowSeconds: number;
  /** The quote of the option that counts has ended, and there is no rate for another one. */
  lacksRate: boolean;
}

const tokens = (units: bigint, token: string) => `${formatTokens(units)}\u00a0${token}`;

/** What is known of the money that counts: not final, too, but nothing that vanished. */
interface Counted {
  sent: bigint;
  /** Still to be sent; 0 where what was sent is enough. */
  missing: bigint;
}

function countedOf({ transactions }: PaymentView, option: OptionRow | undefined, rules: Rules): Counted {
  const sent = transactions
    .filter((t) => t.kind === 'counted' && t.status !== 'gone')
    .reduce((sum, t) => sum + t.amount, 0n);
  const rest = (option?.pay_amount ?? 0n) - sent;
  return { sent, missing: rest > 0n && (sent === 0n || rest > rules.tolerance) ? rest : 0n };
}

function stateOf(reading: Reading, counted: Counted, secondsLeft: number | null): PageState {
  const { view, lacksRate } = reading;
  switch (view.payment.status) {
    case 'completed':
      return 'paid';
    case 'expired':
      return view.payment.invoice_id === null ? 'expired' : 'over';
    case 'cancelled':
    case 'failed':
      return view.payment.invoice_id === null ? 'canceled' : 'over';
    case 'frozen':
      return 'frozen';
    case 'processing':
      // Money that will not count is not told of before it is certain, but in a notice.
      return counted.missing > 0n && !lacksRate && !isOnlySeized(view) ? 'pay' : 'confirming';
    case 'pending':
      if (secondsLeft !== null && secondsLeft <= 0) return 'closing';
      if (!lacksRate) return currentOption(view) === undefined ? 'choose' : 'pay';
      // What was sent has chosen for good: nothing else is offered while nobody knows the rest.
      return view.payment.fixed_currency === null ? 'choose' : 'confirming';
  }
}

/** Nobody is asked for anything while the merchant is suspended; what was sent before is shown. */
function stateShown(reading: Reading, counted: Counted, secondsLeft: number | null): PageState {
  const state = stateOf(reading, counted, secondsLeft);
  const isAsking = state === 'choose' || state === 'pay';
  if (!reading.page.merchant.isSuspended || !isAsking) return state;
  return reading.view.payment.status === 'processing' ? 'confirming' : 'suspended';
}

const isOnlySeized = ({ transactions }: PaymentView) =>
  transactions.some((t) => t.kind === 'seized' && t.status === 'seen');

function optionsOf({ page, view }: Reading): PageOption[] {
  const current = currentOption(view);
  return page.session.options.map(({ currency, network }) => ({
    value: `${currency}:${network}`,
    token: currency,
    networkName: NETWORK_NAMES[network],
    hint: page.merchant.mode === 'sandbox' ? 'test' : network,
    isChosen: current?.currency === currency && current.network === network,
  }));
}

function dueOf({ page, view, language }: Reading, option: OptionRow, { missing, sent }: Counted): PageDue {
  const { currency, network, address } = option;
  const amount = sent > 0n ? missing : option.pay_amount;
  const decimal = formatTokens(amount);
  // A wallet follows a rich link to the real network: a test has none.
  const uri =
    page.merchant.mode === 'live' ? richLinkOf({ token: currency, network, address, amount, decimal }) : null;
  return {
    token: currency,
    networkName: NETWORK_NAMES[network],
    amount: decimal,
    address,
    qr: qrCodeOf(address),
    rich: uri === null ? null : { uri, qr: qrCodeOf(uri) },
    rate:
      view.payment.currency === currency
        ? null
        : `1\u00a0${currency} = ${rateText(option.exchange_rate, view.payment.currency, language)}`,
  };
}

/** A rate is no price: it has more digits than its currency. */
function rateText(rate: string, currency: string, language: PageLanguage): string {
  if (currency === 'USDT' || currency === 'USDC') return `${rate}\u00a0${currency}`;
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 8 };
  const format = new Intl.NumberFormat(localeOf(language), { style: 'currency', currency, ...digits });
  return format.format(rate as `${number}`);
}

function noticesOf(reading: Reading, { sent, missing }: Counted, state: PageState): PageNotice[] {
  const { view, rules, lacksRate } = reading;
  const { exceptions } = presentPayment(view, rules);
  const option = currentOption(view);
  const token = option?.currency ?? '';
  const there = view.transactions.filter((t) => t.status !== 'gone');
  const notices: PageNotice[] = there
    .filter((t) => t.kind === 'wrong_token')
    .map((t) => ({ code: 'wrong_token', received: tokens(t.amount, t.currency ?? '') }));
  if (there.some((t) => t.kind === 'unlisted')) notices.push({ code: 'unlisted' });
  if (lacksRate) notices.push({ code: 'no_rate' });
  if (state === 'pay' && sent > 0n && missing > 0n) {
    notices.push({ code: 'underpaid', sent: tokens(sent, token), missing: tokens(missing, token) });
  }
  if (option !== undefined && state === 'paid' && exceptions.includes('overpaid')) {
    notices.push({ code: 'overpaid', surplus: tokens(sent - option.pay_amount, token) });
  }
  if (sent > 0n && (state === 'expired' || state === 'canceled')) {
    const isIncomplete = missing > 0n && !exceptions.includes('late') && !exceptions.includes('canceled');
    notices.push({ code: isIncomplete ? 'incomplete' : 'late', received: tokens(sent, token) });
  }
  if (sent > 0n && state === 'suspended') notices.push({ code: 'incomplete', received: tokens(sent, token) });
  if (sent > 0n && state === 'over') notices.push({ code: 'not_needed', received: tokens(sent, token) });
  if (state === 'pay' && sent === 0n && view.transactions.length > 0 && there.length === 0)
    notices.push({ code: 'vanished' });
  return notices;
}

function confirmationsOf(reading: Reading, { sent }: Counted): CheckoutView['confirmations'] {
  const { transactions, pay_currency } = presentPayment(reading.view, reading.rules);
  const seen = transactions.filter(
    (t) => t.status === 'seen' && (t.kind === 'counted' || t.kind === 'seized'),
  );
  if (seen.length === 0) return null;
  return {
    count: Math.min(...seen.map((t) => t.confirmations)),
    needed: Math.max(...seen.map((t) => t.required_confirmations)),
    amount: sent > 0n ? tokens(sent, pay_currency ?? '') : '',
  };
}

function receiptOf({ view, language }: Reading, { sent }: Counted): PageReceipt | null {
  const { payment, transactions } = view;
  const option = currentOption(view);
  if (payment.completed_at === null || option === undefined) return null;
  const counted = transactions.filter((t) => t.kind === 'counted' && t.status === 'final');
  return {
    received: tokens(sent, option.currency),
    networkName: NETWORK_NAMES[option.network],
    paidAt: timeText(Number(payment.completed_at), language),
    txIds: [...new Set(counted.map((t) => t.tx_id))],
  };
}

function periodOf(
  { period_start: start, period_end: end }: FoundPage['session'],
  language: PageLanguage,
): string | null {
  if (start === null || end === null) return null;
  return periodText({ start: Number(start), end: Number(end) }, language);
}

export function checkoutView(reading: Reading): CheckoutView {
  const { page, view, rules, language, nowSeconds, lacksRate } = reading;
  const { session, merchant } = page;
  const { payment } = view;
  const option = currentOption(view);
  const counted = countedOf(view, option, rules);
  const expiresAt = payment.expires_at === null ? null : Number(payment.expires_at);
  const secondsLeft = expiresAt === null ? null : expiresAt - nowSeconds;
  const state = stateShown(reading, counted, secondsLeft);
  const isPayable = option !== undefined && (state === 'pay' || (state === 'choose' && !lacksRate));
  const isFixed = payment.fixed_currency !== null;
  const isOpen = state === 'choose' || state === 'pay';
  return {
    language,
    state,
    storeName: session.store_name,
    description: session.description,
    orderId: session.order_id,
    period: periodOf(session, language),
    price: formatPrice(payment.amount, payment.currency, localeOf(language)),
    isTest: merchant.mode === 'sandbox',
    options: optionsOf(reading),
    canChoose: isOpen && !isFixed,
    due: isPayable ? dueOf(reading, option, counted) : null,
    confirmations: payment.status === 'processing' ? confirmationsOf(reading, counted) : null,
    notices: noticesOf(reading, counted, state),
    secondsLeft: isOpen && secondsLeft !== null ? Math.max(0, secondsLeft) : null,
    secondsTotal: expiresAt === null ? null : expiresAt - Number(payment.created_at),
    rateSecondsLeft:
      isPayable && payment.currency !== option.currency && quoteLifeOf(view, option, nowSeconds) !== 'held'
        ? Math.max(0, Number(option.quote_ends_at) - nowSeconds)
        : null,
    receipt: state === 'paid' ? receiptOf(reading, counted) : null,
    returnUrl: returnUrlOf(state, session),
  };
}

function returnUrlOf(state: PageState, session: FoundPage['session']): string | null {
  if (state === 'paid') return session.success_url;
  return state === 'confirming' ? null : session.cancel_url;
}
