import type { Network } from '@florin/contract/money';
import { type ChainTransfer, ChainUnavailable } from '../chains/index.ts';
import { crashPoint } from '../platform/crash-point.ts';
import type { Job, JobOutcome, JobRun } from '../platform/jobs/index.ts';
import { occasionOf } from '../platform/occasion.ts';
import { transact } from '../platform/transact.ts';
import { RateRefused } from '../rates/index.ts';
import { getMerchant } from '../stores/index.ts';
import { applyTransfers, type Reading } from './apply-transfers.ts';
import { type CheckoutDeps, type CheckoutSettings, checkoutSettings, type MerchantRef } from './deps.ts';
import { currentOption } from './present.ts';
import {
  findCursor,
  hasOpenPayments,
  listAddresses,
  listPaymentsSeen,
  readPayment,
  saveCursor,
} from './queries.ts';
import { hasMoved, type Quote, quoteOf, readRate } from './quote.ts';
import { QUOTE_GRACE_SECONDS } from './states.ts';

// Two reads and no way back: a durable cursor moves over final blocks only, and what lies after it is read again each
// time. A crash anywhere reads the same blocks again, which changes nothing (see apply-transfers.ts).

/** While somebody may be paying; while addresses are only watched, in case of late money. */
const OPEN_EVERY_MS = 1_000;
const WATCH_EVERY_MS = 60_000;

/** Handles a job of `SCAN_JOB`. */
export async function scanDeposits(deps: CheckoutDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const merchant = await getMerchant(deps.db, job.merchantId);
  const network = job.payload.network as Network;
  const again = async () => {
    const isOpen = await hasOpenPayments(deps.db, merchant.merchantId, network);
    return { againAtMs: deps.clock.nowMs() + (isOpen ? OPEN_EVERY_MS : WATCH_EVERY_MS) };
  };
  try {
    await readNetwork(deps, merchant, network, run.signal);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    deps.log.warn(
      { network, merchantId: merchant.merchantId, err: error },
      'deposits cannot be read for now',
    );
  }
  return await again();
}

/** Reads a network from its cursor to its tip. @throws ChainUnavailable */
async function readNetwork(
  deps: CheckoutDeps,
  merchant: MerchantRef,
  network: Network,
  signal: AbortSignal,
): Promise<void> {
  const { merchantId } = merchant;
  const chain = deps.chains.of(merchant, network);
  // Head, addresses, blocks, in this order: an address that is given out meanwhile is not passed over.
  const startedAt = occasionOf(deps, merchant).seconds;
  const head = await chain.head();
  const addresses = await listAddresses(deps.db, merchantId, network);
  if (addresses.length === 0) return;
  const watch = addresses.map((row) => row.watch);
  const owners = new Map(addresses.map((row) => [row.address, row.payment_id]));
  const about = { network, owners };
  let cursor = (await findCursor(deps.db, merchantId, network))?.cursor ?? null;
  for (let complete = false; !complete; ) {
    signal.throwIfAborted();
    const page = await chain.scan({ level: 'final', cursor, watch, upTo: head.finalHeight });
    await applyPage(deps, merchant, { ...about, final: page.transfers, seen: [], readTo: undefined });
    crashPoint('deposits.before-cursor');
    const place = { merchantId, network, before: cursor };
    await transact(deps.db, (tx) => saveCursor(tx, place, { cursor: page.cursor }));
    cursor = page.cursor;
    complete = page.complete;
  }
  const tip = await chain.scan({ level: 'tip', cursor, watch });
  const place = { merchantId, network, before: cursor };
  const save = (read: { readAt?: number; height?: bigint }) =>
    transact(deps.db, (tx) => saveCursor(tx, place, { cursor, ...read }));
  // The height first, as what is shown of a transfer counts from it; that the network was read comes last: a payment
  // expires by it, and what was seen in time must be known by then.
  if (tip.complete) await save({ height: tip.head.height });
  const readTo = tip.complete ? tip.head.height : undefined;
  await applyPage(deps, merchant, { ...about, final: [], seen: tip.transfers, readTo });
  if (tip.complete) await save({ readAt: startedAt });
}

interface Page {
  network: Network;
  /** The payment of each address. */
  owners: ReadonlyMap<string, string>;
  final: readonly ChainTransfer[];
  seen: readonly ChainTransfer[];
  readTo: bigint | undefined;
}

async function applyPage(deps: CheckoutDeps, merchant: MerchantRef, page: Page): Promise<void> {
  const { merchantId } = merchant;
  const { owners } = page;
  const all = [...page.final, ...page.seen];
  const paymentIds = new Set(all.flatMap(({ to }) => owners.get(to) ?? []));
  if (page.readTo !== undefined) {
    for (const id of await listPaymentsSeen(deps.db, merchantId, page.network)) paymentIds.add(id);
  }
  if (paymentIds.size === 0) return;
  const senders = [...new Set(all.map(({ from }) => from))];
  const listed = await deps.screen(deps.db, merchant.mode, {
    network: page.network,
    addresses: senders,
    moment: 'submit',
  });
  const of = (transfers: readonly ChainTransfer[], id: string) =>
    transfers.filter(({ to }) => owners.get(to) === id);
  const settings = await checkoutSettings(deps, merchant);
  for (const paymentId of paymentIds) {
    const final = of(page.final, paymentId);
    const seen = of(page.seen, paymentId);
    const about = { paymentId, network: page.network, found: [...final, ...seen] };
    const rates = await ratesFor(deps, merchant, about, settings);
    const reading: Reading = {
      merchantId,
      paymentId,
      network: page.network,
      final,
      seen,
      readTo: page.readTo,
      listed,
      ...rates,
    };
    await transact(deps.db, (tx) =>
      applyTransfers(tx, reading, { settings, occasion: occasionOf(deps, merchant) }),
    );
    crashPoint('deposits.applied');
  }
}

/** Rates are asked for before the payment is locked: a provider may take its time. */
async function ratesFor(
  deps: CheckoutDeps,
  merchant: MerchantRef,
  { paymentId, network, found }: { paymentId: string; network: Network; found: readonly ChainTransfer[] },
  settings: CheckoutSettings,
): Promise<{ freshQuote: Quote | undefined; rateMoved: boolean }> {
  const view = await readPayment(deps.db, merchant.merchantId, paymentId);
  const { payment, options } = view;
  const option = currentOption(view);
  const rateMoved =
    payment.status === 'expired' && option !== undefined
      ? await hasMoved(deps, merchant, { payment, option }, settings)
      : false;
  const [first] = found;
  const paid = options.find((o) => o.network === network && o.address === first?.to);
  const seconds = occasionOf(deps, merchant).seconds;
  const isQuoteOver = paid !== undefined && seconds > Number(paid.quote_ends_at) + QUOTE_GRACE_SECONDS;
  if (!isQuoteOver || payment.fixed_currency !== null || payment.currency === paid.currency)
    return { freshQuote: undefined, rateMoved };
  try {
    const rate = await readRate(deps, merchant, payment.currency, paid.currency);
    const endsAt = seconds + settings.quoteSeconds;
    return { freshQuote: quoteOf(payment, paid.currency, rate, endsAt), rateMoved };
  } catch (error) {
    if (error instanceof RateRefused) return { freshQuote: undefined, rateMoved: true };
    throw error;
  }
}
