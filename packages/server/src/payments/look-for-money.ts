import type { Network } from '@florin/contract/money';
import { ChainUnavailable } from '../chains/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { listCursors } from './deposit-queries.ts';
import type { MerchantRef, PaymentDeps } from './deps.ts';
import { findMissed } from './find-missed.ts';
import { scanJob } from './jobs.ts';
import { factsOf } from './present.ts';
import { type PaymentView, readPayment } from './queries.ts';
import { readNow } from './scan.ts';
import { type InvoicePageState, invoicePageState } from './states.ts';

const AGAIN_SECONDS = 5;
const UNPAID = new Set<InvoicePageState>(['open', 'frozen']);
/** Many may wait for one network. */
const AWAY_SECONDS = 30;

/** When to look again, for the outcome of a job. */
export interface LookAgain {
  againAtMs: number;
  followsClock: boolean;
}

/** Pages of invoices, and by when they had to be paid. */
export interface PagesDue {
  /** UUIDs of their payments. */
  paymentIds: readonly string[];
  /** Unix seconds of the merchant's clock; not ahead of it. */
  deadline: number;
}

/**
 * Before pages of invoices end unpaid: whatever payers have sent to them by the deadline is seen, as every network on which
 * they may have paid is read beyond it, now if it was not, and no address of theirs holds more than was credited.
 *
 * @returns when to look again where that cannot be said yet
 */
export async function lookForMoney(
  deps: PaymentDeps,
  merchant: MerchantRef,
  pages: PagesDue,
): Promise<LookAgain | undefined> {
  const { deadline } = pages;
  const areRead = await unlessAway(async () => {
    const views = await readPages(deps, merchant, pages);
    for (const network of await unreadNetworks(deps, merchant, views, deadline))
      await readNow(deps, merchant, network);
  });
  if (!areRead) return later(deps, merchant, AWAY_SECONDS, false);
  // As they are now, with what was found just before.
  const views = await readPages(deps, merchant, pages);
  // Somebody else has read it at the same time, and has not yet said so, or the node does not know its newest blocks.
  if ((await unreadNetworks(deps, merchant, views, deadline)).length > 0)
    return later(deps, merchant, AGAIN_SECONDS, true);
  for (const view of views.filter(isUnpaid))
    if (!(await isSure(deps, merchant, view))) return later(deps, merchant, AWAY_SECONDS, false);
  return undefined;
}

const isUnpaid = (view: PaymentView) => UNPAID.has(invoicePageState(factsOf(view)));

async function readPages(
  deps: PaymentDeps,
  { merchantId }: MerchantRef,
  { paymentIds }: PagesDue,
): Promise<PaymentView[]> {
  const views: PaymentView[] = [];
  for (const paymentId of paymentIds) views.push(await readPayment(deps.db, merchantId, paymentId));
  return views;
}

/** Those on which payers may have paid, and that are not read up to a time. */
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

/** Has networks read now. */
export function scansOf(deps: PaymentDeps, merchant: MerchantRef, networks: readonly Network[]) {
  const { realMs } = merchantTime(deps, merchant);
  return networks.map((network) => scanJob(merchant.merchantId, network, realMs));
}

/** While a network is away it is looked for in real time: a clock that is moved ahead would stop at each look. */
export async function laterOf(
  deps: PaymentDeps,
  merchant: MerchantRef,
  unread: readonly Network[],
): Promise<LookAgain> {
  const followsClock = await unlessAway(async () => {
    for (const network of unread) await deps.chains.of(merchant, network).head();
  });
  return later(deps, merchant, AGAIN_SECONDS, followsClock);
}

function later(deps: PaymentDeps, merchant: MerchantRef, seconds: number, followsClock: boolean): LookAgain {
  return { againAtMs: merchantTime(deps, merchant).realMs + seconds * 1000, followsClock };
}

/** Looks for money that no reading has found. @returns false where a network cannot be asked */
export async function isSure(deps: PaymentDeps, merchant: MerchantRef, known: PaymentView): Promise<boolean> {
  return await unlessAway(() => findMissed(deps, merchant, known));
}

/** @returns false where a network cannot be asked */
async function unlessAway(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (error instanceof ChainUnavailable) return false;
    throw error;
  }
}
