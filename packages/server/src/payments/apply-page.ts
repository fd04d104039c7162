import type { Asset, Network } from '@florin/contract/money';
import type { ChainTransfer } from '../chains/index.ts';
import { transact } from '../platform/db/index.ts';
import { crashPoint } from '../platform/jobs/index.ts';
import type { Rate } from '../rates/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { applyTransfers, foreseen, type Reading } from './apply-transfers.ts';
import { listPaymentsSeen } from './deposit-queries.ts';
import { type MerchantRef, type PaymentContext, type PaymentDeps, paymentSettings } from './deps.ts';
import { readPayments } from './queries.ts';
import { findRate } from './quote.ts';
import type { WatchedAddresses } from './watched-addresses.ts';

/** Payments that change in one transaction: what a commit costs is shared by so many. */
const PAYMENTS_AT_ONCE = 100;

/** What was read of a network. */
export interface Page {
  network: Network;
  /** Knows the payment of each address. */
  watch: WatchedAddresses;
  final: readonly ChainTransfer[];
  seen: readonly ChainTransfer[];
  readTo: bigint | undefined;
}

type Transfers = Pick<Page, 'final' | 'seen'>;
type Found = Record<keyof Transfers, ChainTransfer[]>;

/** Brings all payments of a page up to it. @returns whether one has changed */
export async function applyPage(deps: PaymentDeps, merchant: MerchantRef, page: Page): Promise<boolean> {
  const byPayment = groupByPayment(page);
  if (page.readTo !== undefined) {
    for (const id of await listPaymentsSeen(deps.db, merchant.merchantId, page.network))
      if (!byPayment.has(id)) byPayment.set(id, { final: [], seen: [] });
  }
  if (byPayment.size === 0) return false;
  const senders = new Set([...page.final, ...page.seen].map(({ from }) => from));
  const listed = await deps.screen(deps.db, merchant.mode, {
    network: page.network,
    addresses: [...senders],
    moment: 'submit',
  });
  const settings = await paymentSettings(deps, merchant);
  // In the order in which they are locked.
  const all = [...byPayment].sort(([a], [b]) => (a < b ? -1 : 1));
  let hasChanged = false;
  for (let at = 0; at < all.length; at += PAYMENTS_AT_ONCE) {
    const some = new Map(all.slice(at, at + PAYMENTS_AT_ONCE));
    const context = { settings, time: merchantTime(deps, merchant) };
    const readings = await readingsOf(deps, merchant, { page, found: some, listed }, context);
    if (readings.size === 0) continue;
    const apply = () => transact(deps.db, (tx) => applyTransfers(tx, merchant.merchantId, readings, context));
    if (await apply()) hasChanged = true;
    crashPoint('deposits.applied');
  }
  return hasChanged;
}

function groupByPayment({ final, seen, watch }: Page): Map<string, Found> {
  const byPayment = new Map<string, Found>();
  const add = (transfers: readonly ChainTransfer[], as: keyof Found) => {
    for (const transfer of transfers) {
      const id = watch.ownerOf(transfer.to);
      if (id === undefined) continue;
      const own = byPayment.get(id) ?? { final: [], seen: [] };
      own[as].push(transfer);
      byPayment.set(id, own);
    }
  };
  add(final, 'final');
  add(seen, 'seen');
  return byPayment;
}

/** Of payments to which the page says something: looked at without a lock, as most pages were read before. */
async function readingsOf(
  deps: PaymentDeps,
  merchant: MerchantRef,
  { page, found, listed }: { page: Page; found: ReadonlyMap<string, Found>; listed: ReadonlySet<string> },
  context: PaymentContext,
): Promise<Map<string, Reading>> {
  const { network, readTo } = page;
  const readings = new Map<string, Reading>();
  for (const view of await readPayments(deps.db, merchant.merchantId, [...found.keys()])) {
    const id = view.payment.payment_id;
    const { final, seen } = found.get(id) ?? { final: [], seen: [] };
    const plain: Reading = { network, final, seen, readTo, listed, rates: new Map() };
    const change = foreseen(view, plain, context);
    if (change === undefined) continue;
    readings.set(id, { ...plain, rates: await ratesOf(deps, merchant, view.payment.currency, change.token) });
  }
  return readings;
}

/** Asked for before the payment is locked: a provider may take its time. One that refuses leaves nothing to go by. */
async function ratesOf(
  deps: PaymentDeps,
  merchant: MerchantRef,
  currency: string,
  token: Asset | undefined,
): Promise<ReadonlyMap<Asset, Rate>> {
  const rate = token && (await findRate(deps, merchant, currency, token));
  return new Map(token === undefined || rate === undefined ? [] : [[token, rate]]);
}
