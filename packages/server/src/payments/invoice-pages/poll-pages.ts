import type { Network } from '@florin/contract/money';
import { ChainUnavailable } from '../../chains/port/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { listCursors } from '../deposits/deposit-queries.ts';
import { scanJob } from '../deposits/jobs.ts';
import { reconcileAddresses } from '../deposits/reconcile-addresses.ts';
import { scanNow } from '../deposits/scan-deposits.ts';
import type { MerchantRef, PaymentDeps } from '../deps.ts';
import { factsOf } from '../facts.ts';
import { type PaymentView, readPayment } from '../reads/queries.ts';
import { type InvoicePageState, invoicePageState } from '../states.ts';

const RETRY_SECONDS = 5;
const UNPAID = new Set<InvoicePageState>(['open', 'frozen']);
/** Longer, since many payments may wait for one network. */
const UNREACHABLE_RETRY_SECONDS = 30;

/** When to retry, as the outcome of a job. */
export interface RetryAt {
  againAtMs: number;
  followsClock: boolean;
}

/** Invoice pages and their deadline. */
export interface DuePages {
  /** UUIDs of their payments. */
  paymentIds: readonly string[];
  /** Unix seconds of the merchant's clock; not in its future. */
  deadline: number;
}

/**
 * Makes sure, before invoice pages end unpaid, that all money sent by the deadline is recorded: scans every network of
 * their options beyond the deadline, and reconciles the balances of their addresses.
 *
 * @returns when to retry if that is not possible yet
 */
export async function pollPages(
  deps: PaymentDeps,
  merchant: MerchantRef,
  pages: DuePages,
): Promise<RetryAt | undefined> {
  const { deadline } = pages;
  const areRead = await ifReachable(async () => {
    const views = await readPages(deps, merchant, pages);
    for (const network of await unreadNetworks(deps, merchant, views, deadline))
      await scanNow(deps, merchant, network);
  });
  if (!areRead) return retryAfter(deps, merchant, UNREACHABLE_RETRY_SECONDS, false);
  // Read again, with the transfers that were just found.
  const views = await readPages(deps, merchant, pages);
  // A concurrent scan has not saved its cursor yet, or the node lacks the newest blocks.
  if ((await unreadNetworks(deps, merchant, views, deadline)).length > 0)
    return retryAfter(deps, merchant, RETRY_SECONDS, true);
  for (const view of views.filter(isUnpaid))
    if (!(await reconcileIfReachable(deps, merchant, view)))
      return retryAfter(deps, merchant, UNREACHABLE_RETRY_SECONDS, false);
  return undefined;
}

const isUnpaid = (view: PaymentView) => UNPAID.has(invoicePageState(factsOf(view)));

async function readPages(
  deps: PaymentDeps,
  { merchantId }: MerchantRef,
  { paymentIds }: DuePages,
): Promise<PaymentView[]> {
  const views: PaymentView[] = [];
  for (const paymentId of paymentIds) views.push(await readPayment(deps.db, merchantId, paymentId));
  return views;
}

/** Networks of the payments' options that are not scanned up to this time. */
export async function unreadNetworks(
  deps: PaymentDeps,
  { merchantId }: MerchantRef,
  views: readonly PaymentView[],
  until: number,
): Promise<Network[]> {
  const networks = new Set(views.flatMap(({ options }) => options.map(({ network }) => network)));
  if (networks.size === 0) return [];
  const cursors = await listCursors(deps.db, merchantId);
  const isRead = (network: Network) =>
    cursors.some((cursor) => cursor.network === network && Number(cursor.read_at) >= until);
  return [...networks].filter((network) => !isRead(network));
}

/** Jobs that scan networks now. */
export function scanJobs(deps: PaymentDeps, merchant: MerchantRef, networks: readonly Network[]) {
  const { realMs } = merchantTime(deps, merchant);
  return networks.map((network) => scanJob(merchant.merchantId, network, realMs));
}

/** An unreachable network is retried in real time; a sandbox clock that is advanced must not wait for it. */
export async function retryAt(
  deps: PaymentDeps,
  merchant: MerchantRef,
  unread: readonly Network[],
): Promise<RetryAt> {
  const followsClock = await ifReachable(async () => {
    for (const network of unread) await deps.chains.of(merchant, network).head();
  });
  return retryAfter(deps, merchant, RETRY_SECONDS, followsClock);
}

function retryAfter(
  deps: PaymentDeps,
  merchant: MerchantRef,
  seconds: number,
  followsClock: boolean,
): RetryAt {
  return { againAtMs: merchantTime(deps, merchant).realMs + seconds * 1000, followsClock };
}

/** Reconciles the payment's addresses. @returns false if a network is unreachable */
export async function reconcileIfReachable(
  deps: PaymentDeps,
  merchant: MerchantRef,
  known: PaymentView,
): Promise<boolean> {
  return await ifReachable(() => reconcileAddresses(deps, merchant, known));
}

/** @returns false if a network is unreachable */
async function ifReachable(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (error) {
    if (error instanceof ChainUnavailable) return false;
    throw error;
  }
}
