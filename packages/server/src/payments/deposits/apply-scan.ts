import type { Asset, Network } from '@florin/contract/money';
import type { ChainTransfer } from '../../chains/port/index.ts';
import { transact } from '../../platform/db/index.ts';
import { crashPoint } from '../../platform/jobs/index.ts';
import type { Rate } from '../../rates/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { type MerchantRef, type PaymentContext, type PaymentDeps, paymentSettings } from '../deps.ts';
import { findRate } from '../quotes/quote.ts';
import { readPayments } from '../reads/queries.ts';
import { applyTransfers } from './apply-transfers.ts';
import { listPaymentsSeen } from './deposit-queries.ts';
import type { CreditDepth } from './early-credit.ts';
import { type PaymentScan, previewChange } from './plan-change.ts';
import type { WatchedAddresses } from './watched-addresses.ts';

/** Payments per transaction; they share the cost of its commit. */
const PAYMENTS_AT_ONCE = 100;

/** What one scan of a network found. */
export interface ScanResult {
  network: Network;
  /** Maps each address to its payment. */
  watch: WatchedAddresses;
  final: readonly ChainTransfer[];
  seen: readonly ChainTransfer[];
  /** The newest block of a complete scan; undefined: the scan was not complete, so absence proves nothing. */
  readTo: bigint | undefined;
  depth: CreditDepth;
}

type Transfers = Pick<ScanResult, 'final' | 'seen'>;
type TransfersOfPayment = Record<keyof Transfers, ChainTransfer[]>;

/** Applies a scan to all payments that it concerns. @returns whether any has changed */
export async function applyScan(
  deps: PaymentDeps,
  merchant: MerchantRef,
  result: ScanResult,
): Promise<boolean> {
  const byPayment = groupByPayment(result);
  if (result.readTo !== undefined) {
    for (const id of await listPaymentsSeen(deps.db, merchant.merchantId, result.network))
      if (!byPayment.has(id) && result.watch.covers(id)) byPayment.set(id, { final: [], seen: [] });
  }
  if (byPayment.size === 0) return false;
  const senders = new Set([...result.final, ...result.seen].map(({ from }) => from));
  const sanctioned = await deps.screen(deps.db, merchant.mode, {
    network: result.network,
    addresses: [...senders],
    stage: 'execution',
  });
  const settings = await paymentSettings(deps, merchant);
  // Sorted in lock order.
  const all = [...byPayment].sort(([a], [b]) => (a < b ? -1 : 1));
  let hasChanged = false;
  for (let at = 0; at < all.length; at += PAYMENTS_AT_ONCE) {
    const chunk = new Map(all.slice(at, at + PAYMENTS_AT_ONCE));
    const context = { settings, time: merchantTime(deps, merchant) };
    const scans = await scansByPayment(deps, merchant, { result, found: chunk, sanctioned }, context);
    if (scans.size === 0) continue;
    const apply = () => transact(deps.db, (tx) => applyTransfers(tx, merchant.merchantId, scans, context));
    if (await apply()) hasChanged = true;
    crashPoint('deposits.applied');
  }
  return hasChanged;
}

function groupByPayment({ final, seen, watch }: ScanResult): Map<string, TransfersOfPayment> {
  const byPayment = new Map<string, TransfersOfPayment>();
  const add = (transfers: readonly ChainTransfer[], as: keyof TransfersOfPayment) => {
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

/**
 * Selects the payments that the scan changes, and reads the rates they need. Works without locks, since most scans
 * repeat an earlier one and change nothing.
 */
async function scansByPayment(
  deps: PaymentDeps,
  merchant: MerchantRef,
  {
    result,
    found,
    sanctioned,
  }: { result: ScanResult; found: ReadonlyMap<string, TransfersOfPayment>; sanctioned: ReadonlySet<string> },
  context: PaymentContext,
): Promise<Map<string, PaymentScan>> {
  const { network, readTo, depth } = result;
  const scans = new Map<string, PaymentScan>();
  for (const view of await readPayments(deps.db, merchant.merchantId, [...found.keys()])) {
    const id = view.payment.payment_id;
    const { final, seen } = found.get(id) ?? { final: [], seen: [] };
    const plain: PaymentScan = { network, final, seen, readTo, depth, sanctioned, rates: new Map() };
    const change = previewChange(view, plain, context);
    if (change === undefined) continue;
    scans.set(id, { ...plain, rates: await readRates(deps, merchant, view.payment.currency, change.token) });
  }
  return scans;
}

/** Read before the payment is locked, since a rate provider may be slow. Empty if the rate is refused. */
async function readRates(
  deps: PaymentDeps,
  merchant: MerchantRef,
  currency: string,
  token: Asset | undefined,
): Promise<ReadonlyMap<Asset, Rate>> {
  const rate = token && (await findRate(deps, merchant, currency, token));
  return new Map(token === undefined || rate === undefined ? [] : [[token, rate]]);
}
