import type { Network } from '@florin/contract/money';
import { ChainUnavailable } from '../chains/index.ts';
import { enqueue } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { transact } from '../platform/transact.ts';
import { listCursors } from './deposit-queries.ts';
import type { CheckoutDeps, MerchantRef } from './deps.ts';
import { findMissed } from './find-missed.ts';
import { scanJob } from './jobs.ts';
import { type PaymentView, readPayment } from './queries.ts';

const AGAIN_SECONDS = 5;

/** When to look again, for the outcome of a job. */
export interface LookAgain {
  againAtMs: number;
  followsClock: boolean;
}

/**
 * Before pages of invoices end unpaid: whatever payers have sent to them by a deadline is seen, as every network on which
 * they may have paid is read beyond it and no address of theirs holds more than was credited.
 *
 * @param paymentIds UUIDs of the pages' payments
 * @param deadline Unix seconds of the merchant's clock
 * @returns when to look again where that cannot be said yet
 */
export async function lookForMoney(
  deps: CheckoutDeps,
  merchant: MerchantRef,
  paymentIds: readonly string[],
  deadline: number,
): Promise<LookAgain | undefined> {
  const { merchantId } = merchant;
  const views: PaymentView[] = [];
  for (const paymentId of paymentIds) views.push(await readPayment(deps.db, merchantId, paymentId));
  const unread = await unreadNetworks(deps, merchant, views, deadline);
  if (unread.length > 0) {
    await transact(deps.db, (tx) => enqueue(tx, scansOf(deps, merchant, unread)));
    return await laterOf(deps, merchant, unread);
  }
  for (const view of views)
    if (!(await isSure(deps, merchant, view))) return { ...again(deps, merchant), followsClock: false };
  return undefined;
}

/** Those on which payers may have paid, and that are not read up to a time. */
export async function unreadNetworks(
  deps: CheckoutDeps,
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
export function scansOf(deps: CheckoutDeps, merchant: MerchantRef, networks: readonly Network[]) {
  const { realMs } = occasionOf(deps, merchant);
  return networks.map((network) => scanJob(merchant.merchantId, network, realMs));
}

/** While a network is away it is looked for in real time: a clock that is moved ahead would stop at each look. */
export async function laterOf(
  deps: CheckoutDeps,
  merchant: MerchantRef,
  unread: readonly Network[],
): Promise<LookAgain> {
  const followsClock = await unlessAway(async () => {
    for (const network of unread) await deps.chains.of(merchant, network).head();
  });
  return { ...again(deps, merchant), followsClock };
}

function again(deps: CheckoutDeps, merchant: MerchantRef) {
  return { againAtMs: occasionOf(deps, merchant).realMs + AGAIN_SECONDS * 1000 };
}

/** Looks for money that no reading has found. @returns false where a network cannot be asked */
export async function isSure(
  deps: CheckoutDeps,
  merchant: MerchantRef,
  known: PaymentView,
): Promise<boolean> {
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
