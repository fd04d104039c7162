import type { Asset, Network } from '@florin/contract/money';
import {
  type CheckoutView,
  NETWORK_NAMES,
  type PageDetails,
  type PageDue,
  type PageLanguage,
  type PageNotice,
  type PageOption,
  type PageState,
  periodText,
  priceText,
  rateText,
  timeText,
  tokenAmountText,
  tokensText as tokens,
} from '@florin/pages';
import type { NetworkFacts } from '../../chains/index.ts';
import {
  currentOption,
  type OptionRow,
  type PayerPayment,
  type PaymentView,
  returnedAmount,
} from '../../payments/reads/index.ts';
import { brandOf } from '../../stores/branding/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import type { FoundPage } from './find-page.ts';
import { qrCodeOf } from './qr-code.ts';
import { richLinkOf } from './rich-link.ts';

// `checkoutView` decides everything that a payer sees; server and browser only render it. Address, amount and QR code come
// from one row, and nothing comes from the page's URL.

interface PageInput extends PayerPayment {
  page: FoundPage;
  language: PageLanguage;
  /** The merchant's clock. */
  nowSeconds: number;
  /** The networks of the session's options that this installation has a node for. */
  networks: ReadonlyMap<Network, NetworkFacts>;
  /** What would have to be sent in each token now, while one can be chosen. */
  amounts: ReadonlyMap<Asset, bigint>;
  isTest: boolean;
}

/** Counted money, seen or final, without vanished transfers. */
interface Counted {
  sent: bigint;
  /** Still to be sent; 0 if enough was sent. */
  missing: bigint;
}

function countedOf({ view, tolerance }: PageInput, option: OptionRow | undefined): Counted {
  const sent = view.transactions
    .filter((t) => t.kind === 'counted' && t.status !== 'gone')
    .reduce((sum, t) => sum + t.amount, 0n);
  const rest = (option?.pay_amount ?? 0n) - sent;
  return { sent, missing: rest > 0n && (sent === 0n || rest > tolerance) ? rest : 0n };
}

function stateOf(input: PageInput, counted: Counted, secondsLeft: number | null): PageState {
  const { view, lacksRate } = input;
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
      // Money that does not count appears in a notice only, once it is certain.
      return counted.missing > 0n && !lacksRate && !isOnlySeized(view) ? 'pay' : 'confirming';
    case 'pending':
      if (secondsLeft !== null && secondsLeft <= 0) return 'closing';
      if (!lacksRate) return currentOption(view) === undefined ? 'choose' : 'pay';
      // Sent money has fixed the option, so no other is offered while the rest is unknown.
      return view.payment.fixed_currency === null ? 'choose' : 'confirming';
  }
}

/** While the merchant is suspended the page asks for no money; transfers sent before are shown. */
function stateShown(input: PageInput, counted: Counted, secondsLeft: number | null): PageState {
  const state = stateOf(input, counted, secondsLeft);
  const asksForMoney = state === 'choose' || state === 'pay';
  if (!input.page.merchant.isSuspended || !asksForMoney) return state;
  return input.view.payment.status === 'processing' ? 'confirming' : 'suspended';
}

const isOnlySeized = ({ transactions }: PaymentView) =>
  transactions.some((t) => t.kind === 'seized' && t.status === 'seen');

/** Networks by what they usually take as a fee from the payer, lowest first. */
const BY_FEE: readonly Network[] = ['spl', 'trc20', 'erc20'];

function optionsOf({ page, view, networks, amounts }: PageInput): PageOption[] {
  const amountOf = (token: Asset) => {
    const amount = amounts.get(token);
    if (amount === undefined) return null;
    return view.payment.currency === token ? tokens(amount, token) : `≈\u00a0${tokens(amount, token)}`;
  };
  const payable = page.session.options.filter(
    ({ currency, network }) => networks.get(network)?.tokens[currency] !== undefined,
  );
  const sorted = payable.toSorted((a, b) => BY_FEE.indexOf(a.network) - BY_FEE.indexOf(b.network));
  return sorted.map(({ currency, network }) => ({
    value: `${currency}:${network}`,
    token: currency,
    network,
    networkName: NETWORK_NAMES[network],
    hint: page.merchant.mode === 'sandbox' ? 'test' : network,
    amount: amountOf(currency),
  }));
}

function dueOf(
  { page, view, language, networks }: PageInput,
  option: OptionRow,
  { missing, sent }: Counted,
): PageDue {
  const { currency, network, address } = option;
  const amount = sent > 0n ? missing : option.pay_amount;
  const decimal = tokenAmountText(amount);
  const paymentId = encodeId('payment', page.session.payment_id);
  // Wallets open rich links on the real network, so the sandbox has none.
  const uri =
    page.merchant.mode === 'live'
      ? richLinkOf(networks.get(network), { token: currency, network, address, amount, decimal, paymentId })
      : null;
  return {
    token: currency,
    network,
    networkName: NETWORK_NAMES[network],
    amount: decimal,
    address,
    qr: qrCodeOf(address),
    rich: uri === null ? null : { uri, qr: qrCodeOf(uri) },
    wallet: walletOf(networks.get(network), currency),
    rate:
      view.payment.currency === currency
        ? null
        : `1\u00a0${currency} = ${rateText(option.exchange_rate, view.payment.currency, language)}`,
  };
}

/** How a wallet in the payer's browser pays; none knows a simulated network. */
function walletOf(facts: NetworkFacts | undefined, token: Asset): PageDue['wallet'] {
  const contract = facts?.tokens[token];
  return facts?.wallets == null || contract === undefined ? null : { ...facts.wallets, contract };
}

function noticesOf(input: PageInput, { sent, missing }: Counted, state: PageState): PageNotice[] {
  const { view, lacksRate } = input;
  const { exceptions } = input.shown;
  const option = currentOption(view);
  const token = option?.currency ?? '';
  const present = view.transactions.filter((t) => t.status !== 'gone');
  const kept = sent - returnedAmount(view);
  const notices: PageNotice[] = present
    .filter((t) => t.kind === 'wrong_token')
    .map((t) => ({ code: 'wrong_token', received: tokens(t.amount, t.currency ?? '') }));
  if (present.some((t) => t.kind === 'unlisted')) notices.push({ code: 'unlisted' });
  if (lacksRate) notices.push({ code: 'no_rate' });
  if (state === 'pay' && sent > 0n && missing > 0n) {
    notices.push({ code: 'underpaid', sent: tokens(sent, token), missing: tokens(missing, token) });
  }
  const surplus = kept - (option?.pay_amount ?? 0n);
  if (state === 'paid' && surplus > 0n && exceptions.includes('overpaid')) {
    notices.push({ code: 'overpaid', surplus: tokens(surplus, token) });
  }
  if (kept > 0n && (state === 'expired' || state === 'canceled')) {
    const isIncomplete = missing > 0n && !exceptions.includes('late') && !exceptions.includes('canceled');
    notices.push({ code: isIncomplete ? 'incomplete' : 'late', received: tokens(sent, token) });
  }
  if (sent > 0n && state === 'suspended') notices.push({ code: 'incomplete', received: tokens(sent, token) });
  if (kept > 0n && state === 'over') notices.push({ code: 'not_needed', received: tokens(sent, token) });
  if (state === 'pay' && sent === 0n && view.transactions.length > 0 && present.length === 0)
    notices.push({ code: 'vanished' });
  return notices;
}

function confirmationsOf({ shown }: PageInput, { sent }: Counted): CheckoutView['confirmations'] {
  const { transactions, pay_currency } = shown;
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

/** What was chosen and what came, while nothing is to be sent. */
function detailsOf({ page, view, language, networks }: PageInput, { sent }: Counted): PageDetails | null {
  const { payment, transactions } = view;
  const option = currentOption(view);
  if (option === undefined) return null;
  const { currency, network } = option;
  const link = networks.get(network)?.explorer?.transaction ?? null;
  return {
    asked: tokens(option.pay_amount, currency),
    received: sent > 0n ? tokens(sent, currency) : null,
    refunding: tokensOrNull(payment.refunding_amount, currency),
    refunded: tokensOrNull(payment.refunded_amount, currency),
    network,
    networkName: NETWORK_NAMES[network],
    address: page.merchant.isSuspended ? null : option.address,
    // Only what came to this option's network is looked up at its explorer.
    transactions: broughtBy(transactions.filter((t) => t.status !== 'gone')).map(
      ({ id, amount }, _, all) => ({
        id,
        url: link === null ? null : explorerUrl(link, id),
        amount: all.length > 1 ? amount : null,
      }),
    ),
    paidAt: payment.completed_at === null ? null : timeText(Number(payment.completed_at), language),
  };
}

/** The transactions, each with all that it brought of listed tokens, as text. */
export function broughtBy(transfers: PaymentView['transactions']): { id: string; amount: string }[] {
  const ids = [...new Set(transfers.map((t) => t.tx_id))];
  return ids.map((id) => {
    const sums = new Map<Asset, bigint>();
    for (const { tx_id: txId, currency, amount } of transfers)
      if (txId === id && currency !== null) sums.set(currency, (sums.get(currency) ?? 0n) + amount);
    return { id, amount: [...sums].map(([token, sum]) => tokens(sum, token)).join(' + ') };
  });
}

const tokensOrNull = (amount: bigint, token: Asset) => (amount > 0n ? tokens(amount, token) : null);

const explorerUrl = (link: string, txId: string) => link.replace('{tx_id}', encodeURIComponent(txId));

function periodOf(
  { period_start: start, period_end: end }: FoundPage['session'],
  language: PageLanguage,
): string | null {
  if (start === null || end === null) return null;
  return periodText({ start: Number(start), end: Number(end) }, language);
}

export function checkoutView(input: PageInput): CheckoutView {
  const { page, view, language, nowSeconds, lacksRate, isQuoteBinding } = input;
  const { session, merchant } = page;
  const { payment } = view;
  const option = currentOption(view);
  const counted = countedOf(input, option);
  const expiresAt = payment.expires_at === null ? null : Number(payment.expires_at);
  const secondsLeft = expiresAt === null ? null : expiresAt - nowSeconds;
  const state = stateShown(input, counted, secondsLeft);
  const isPayable = option !== undefined && (state === 'pay' || (state === 'choose' && !lacksRate));
  const isFixed = payment.fixed_currency !== null;
  const isOpen = state === 'choose' || state === 'pay';
  return {
    language,
    state,
    storeName: session.store_name,
    brand: brandOf(session),
    description: session.description,
    orderId: session.order_id,
    period: periodOf(session, language),
    price: priceText(payment.amount, payment.currency, language),
    isTest: input.isTest,
    isSimulated: merchant.mode === 'sandbox',
    options: optionsOf(input),
    canChoose: isOpen && !isFixed,
    due: isPayable ? dueOf(input, option, counted) : null,
    confirmations: payment.status === 'processing' ? confirmationsOf(input, counted) : null,
    notices: noticesOf(input, counted, state),
    secondsLeft: isOpen && secondsLeft !== null ? Math.max(0, secondsLeft) : null,
    secondsTotal: expiresAt === null ? null : expiresAt - Number(payment.created_at),
    rateSecondsLeft:
      isPayable && payment.currency !== option.currency && !isQuoteBinding
        ? Math.max(0, Number(option.quote_ends_at) - nowSeconds)
        : null,
    details: isOpen ? null : detailsOf(input, counted),
    returnUrl: returnUrlOf(state, session),
  };
}

function returnUrlOf(state: PageState, session: FoundPage['session']): string | null {
  if (state === 'paid') return session.success_url;
  return state === 'confirming' ? null : session.cancel_url;
}
