import {
  dayText,
  NETWORK_NAMES,
  type PageLanguage,
  type PortalSubscription,
  type PortalView,
  priceText,
} from '@florin/pages';
import { ChainUnavailable } from '../../chains/port/index.ts';
import { invoicePages } from '../../checkout/index.ts';
import { type InvoiceRow, listInvoices } from '../../invoices/index.ts';
import { findPaymentMethod, type PaymentMethodRow } from '../../payment-methods/index.ts';
import type { InvoicePageState, PaymentDeps } from '../../payments/index.ts';
import { encodeId, merchantTime } from '../../tenancy/index.ts';
import { needOf } from '../charge-needs.ts';
import { periodEndAt } from '../decide/cancellation.ts';
import { subscribeToken } from '../page-token.ts';
import { type SubscriptionRow, subscriptionPage } from '../queries.ts';
import { factsOfSubscription } from '../rows.ts';
import { isFinal } from '../states.ts';
import type { Portal } from './portal-session.ts';
import { declineOf, itemsOf, mandateWallets, spenderOf, walletOptions } from './shown.ts';

const SUBSCRIPTIONS_MAX = 100;
const INVOICES_MAX = 100;
/** Characters of an address that are shown to identify it. */
const HEAD = 6;
const TAIL = 4;

/** Everything that the portal shows. */
export async function readPortalView(
  deps: Pick<PaymentDeps, 'db' | 'clock' | 'chains'>,
  portal: Portal,
  language: PageLanguage,
): Promise<PortalView> {
  const { caller, session, merchant, storeName, brand, token } = portal;
  const { customer, customer_id: customerId, return_url: returnUrl } = session;
  const rows = await subscriptionPage(deps.db, caller, { customer, limit: SUBSCRIPTIONS_MAX }).execute();
  const invoices = await listInvoices(deps.db, caller, { customerId, limit: INVOICES_MAX });
  const subscriptions: PortalSubscription[] = [];
  // Running subscriptions come first; within each group, newest first.
  for (const row of rows.toSorted((a, b) => Number(isFinal(a.status)) - Number(isFinal(b.status)))) {
    const own = invoices.filter((one) => one.subscription_id === row.subscription_id && !one.skipped);
    const shown = await subscriptionOf(deps, merchant, { row, own, language });
    subscriptions.push(merchant.isSuspended ? withoutActions(shown) : shown);
  }
  const { isSuspended } = merchant;
  const isTest = deps.chains.isTest(merchant);
  const isSimulated = merchant.mode === 'sandbox';
  const common = { page: 'portal', language, storeName, brand, isTest, isSimulated, token } as const;
  return { ...common, returnUrl, isSuspended, subscriptions, refused: null };
}

/** One subscription as the portal shows it, with the newest of its invoices. */
export async function readSubscription(
  deps: Pick<PaymentDeps, 'db' | 'clock' | 'chains'>,
  merchant: Portal['merchant'],
  row: SubscriptionRow,
  language: PageLanguage,
): Promise<PortalSubscription> {
  const { merchant_id: merchantId, store_id: storeId, subscription_id: subscriptionId } = row;
  const invoices = await listInvoices(
    deps.db,
    { merchantId, storeId },
    { subscriptionId, limit: INVOICES_MAX },
  );
  const own = invoices.filter((one) => !one.skipped);
  return await subscriptionOf(deps, merchant, { row, own, language });
}

export function withoutActions(own: PortalSubscription): PortalSubscription {
  const invoices = own.invoices.map((invoice) => ({ ...invoice, payToken: null }));
  const none = { due: null, lastsUntil: null, isEnding: false, options: [], walletPage: null };
  return { ...own, ...none, invoices };
}

interface Shown {
  row: SubscriptionRow;
  /** Its invoices, newest first. */
  own: readonly InvoiceRow[];
  language: PageLanguage;
}

async function subscriptionOf(
  deps: Pick<PaymentDeps, 'db' | 'clock' | 'chains'>,
  merchant: Portal['merchant'],
  { row, own, language }: Shown,
): Promise<PortalSubscription> {
  const { payment_method_id: methodId } = row;
  const method = methodId === null ? undefined : await findPaymentMethod(deps.db, row.merchant_id, methodId);
  const open = own.findLast((invoice) => invoice.status === 'open');
  const pages = await pagesOf(deps, own);
  const { seconds: now } = merchantTime(deps, merchant);
  const isOver = isFinal(row.status);
  const options = isOver ? [] : await walletOptions(deps, merchant, row.currency);
  const canCancel = !isOver && row.status !== 'incomplete' && row.cancel_at === null;
  return {
    id: encodeId('subscription', row.subscription_id),
    items: itemsOf(row.items),
    price: priceText(row.amount, row.currency, language),
    interval: row.interval,
    status: row.status,
    isOver,
    date: dateOf(row, language),
    wallet: method === undefined ? null : walletOf(method),
    problem: isOver ? null : await problemOf(deps, merchant, { row, method, open }),
    due: open === undefined ? null : dueOf(open, pages, language),
    lastsUntil: canCancel ? dayText(periodEndAt(factsOfSubscription(row), now), language) : null,
    isEnding: !isOver && row.cancel_at !== null,
    options,
    walletPage: (await mandateWallets(deps, merchant, options)).length === 0 ? null : subscribeToken(row),
    approval: await approvalOf(deps, merchant, method),
    invoices: own.map((invoice) => ({
      id: encodeId('invoice', invoice.invoice_id),
      day: dayText(Number(invoice.created_at), language),
      price: priceText(invoice.amount_due, invoice.currency, language),
      status: invoice.status,
      payToken: payTokenOf(invoice, pages),
    })),
  };
}

type Pages = ReadonlyMap<string, { token: string; state: InvoicePageState }>;

/** Reads the pages of open invoices only. */
async function pagesOf({ db }: Pick<PaymentDeps, 'db'>, invoices: readonly InvoiceRow[]): Promise<Pages> {
  const pages = new Map<string, { token: string; state: InvoicePageState }>();
  for (const { invoice_id: id, merchant_id: merchantId, session_id: sessionId, status } of invoices) {
    const page =
      sessionId !== null &&
      status === 'open' &&
      (await invoicePages.readInvoicePage(db, merchantId, sessionId));
    if (page) pages.set(id, page);
  }
  return pages;
}

function payTokenOf({ invoice_id: id, live_attempt }: InvoiceRow, pages: Pages): string | null {
  const page = pages.get(id);
  return page?.state === 'open' && live_attempt === null ? page.token : null;
}

/** Undefined while a payment of the invoice is pending. */
function dueOf(invoice: InvoiceRow, pages: Pages, language: PageLanguage): PortalSubscription['due'] {
  const state = pages.get(invoice.invoice_id)?.state ?? 'open';
  if (invoice.live_attempt !== null || state !== 'open') return null;
  return {
    invoiceId: encodeId('invoice', invoice.invoice_id),
    price: priceText(invoice.amount_due, invoice.currency, language),
    payToken: payTokenOf(invoice, pages),
  };
}

function dateOf(row: SubscriptionRow, language: PageLanguage): PortalSubscription['date'] {
  const day = (value: bigint | number) => dayText(Number(value), language);
  const { status, current_period_end: end, cancel_at: cancelAt, canceled_at: canceledAt } = row;
  if (canceledAt !== null) return { kind: 'ended_on', day: day(canceledAt) };
  if (cancelAt !== null) return { kind: 'ends_on', day: day(cancelAt) };
  if (status === 'incomplete' || status === 'incomplete_expired') return null;
  if (status === 'trialing') return { kind: 'free_until', day: day(end) };
  return { kind: status === 'active' ? 'next_payment' : 'paid_until', day: day(end) };
}

function walletOf({
  currency,
  network,
  wallet_address: address,
}: PaymentMethodRow): PortalSubscription['wallet'] {
  return {
    token: currency,
    networkName: NETWORK_NAMES[network],
    address: `${address.slice(0, HEAD)}…${address.slice(-TAIL)}`,
  };
}

/** Also of a subscription that is over: what was allowed stays allowed until its payer takes it back. */
async function approvalOf(
  deps: Pick<PaymentDeps, 'chains'>,
  merchant: Portal['merchant'],
  method: PaymentMethodRow | undefined,
): Promise<PortalSubscription['approval']> {
  if (method === undefined || method.allowance === 0n) return null;
  const { network, currency: token } = method;
  const spender = await spenderOf(deps, merchant, network);
  return spender === null ? null : { token, network, spender };
}

/** The problem to show: a problem of the wallet, or else the reason of the last failed charge. */
async function problemOf(
  deps: Pick<PaymentDeps, 'db' | 'chains'>,
  merchant: Portal['merchant'],
  of: { row: SubscriptionRow; method: PaymentMethodRow | undefined; open: InvoiceRow | undefined },
): Promise<PortalSubscription['problem']> {
  const { row, method, open } = of;
  // Of a wallet that nothing is charged to any more, none.
  const isNeeded = needOf(row, open).amount > 0n;
  if (isNeeded && method !== undefined) {
    const { status, balance, allowance } = method;
    const lost = status === 'inactive' && allowance === 0n ? await lostOf(deps, merchant, method) : null;
    if (lost !== null) return lost;
    // The smaller of both is what a wallet lacks that cannot pay.
    if (status === 'inactive' && allowance < balance) return 'wallet_allowance';
    if (status !== 'active') return `wallet_${status}`;
  }
  const decline = await declineOf(deps, open);
  return decline === null ? null : `declined_${decline}`;
}

/** Why a wallet allows nothing any more, as the network has it now; null: it is not known, and it lacks coins as well. */
async function lostOf(
  { chains }: Pick<PaymentDeps, 'chains'>,
  merchant: Portal['merchant'],
  { network, currency: asset, wallet_address: from, balance }: PaymentMethodRow,
): Promise<PortalSubscription['problem']> {
  const lost = await chains.payerCalls(merchant, network)?.lostApproval?.({ from, asset }).catch(unlessAway);
  if (lost === 'closed' || lost === 'other_delegate') return `wallet_${lost}`;
  return lost === 'none' || balance > 0n ? 'wallet_nothing' : null;
}

function unlessAway(error: unknown): null {
  if (error instanceof ChainUnavailable) return null;
  throw error;
}
