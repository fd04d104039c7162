import type { Network } from '@florin/contract/money';
import type { Chain, ChainTransfer, WatchSet } from '../../chains/port/index.ts';
import { post } from '../../ledger/index.ts';
import { transact } from '../../platform/db/index.ts';
import { crashPoint, enqueue } from '../../platform/jobs/index.ts';
import { merchantTime } from '../../tenancy/index.ts';
import { stopNetwork } from '../../transfers/blocks/index.ts';
import { lostPostings } from '../books/postings.ts';
import type { MerchantRef, PaymentDeps } from '../deps.ts';
import { transactionKey } from '../reads/queries.ts';
import { applyScan } from './apply-scan.ts';
import {
  type FinalTransfer,
  hasCreditedAbove,
  listFinalTransfers,
  markLost,
  moveCursorBack,
} from './coin-queries.ts';
import { findCursor } from './deposit-queries.ts';
import { creditedJob, scanJob } from './jobs.ts';
import { WatchedAddresses } from './watched-addresses.ts';

// Reads the newest final blocks a second time. A transfer that the first scan missed is credited now. A credited transfer
// that is in no block any more was lost to a reorganisation deeper than finality: the merchant keeps it, the operator
// bears the loss, and sending on that network stops. The cursor moves back, because other blocks replaced the lost ones;
// if the transfer is mined again, the loss is booked back (apply-transfers.ts).

interface Blocks {
  network: Network;
  /** Exclusive. */
  above: bigint;
  upTo: bigint;
}

export interface RescanResult {
  /** Transfers in these blocks that were credited before. */
  known: number;
  /** Whether transfers were credited in blocks above these, which have to be compared once they are final. */
  isAhead: boolean;
  /** Transfers that this rescan credited. */
  missed: number;
}

/** @throws ChainUnavailable */
export async function rescanBlocks(
  deps: PaymentDeps,
  merchant: MerchantRef,
  blocks: Blocks,
): Promise<RescanResult> {
  const { merchantId } = merchant;
  const { network } = blocks;
  const chain = deps.chains.of(merchant, network);
  const watch = new WatchedAddresses(deps.db, { merchantId, network });
  const { found } = await scanBlocks(chain, watch, blocks);
  // Read after the blocks, so that transfers credited meanwhile do not count as missed.
  const known = await listFinalTransfers(deps.db, merchantId, blocks);
  const credited = new Set(known.map((row) => row.key));
  const extra = [...found.values()].filter((one) => !credited.has(keyOf(network, one)));
  const missed = await excludeUnread(deps, merchant, { chain, network, upTo: blocks.upTo, extra });
  if (missed.length > 0) {
    const fields = { merchantId, network, tx_ids: missed.map(({ txId }) => txId) };
    deps.log.error(fields, 'the first scan missed transfers: they are credited now');
    const depth = { confirmations: chain.capabilities.confirmations, earlyUpTo: undefined };
    await applyScan(deps, merchant, { network, watch, final: missed, seen: [], readTo: undefined, depth });
  }
  const absent = known.filter((row) => !row.isLost && !found.has(row.key));
  const gone = await stillAbsent(chain, blocks, absent);
  if (gone.length > 0) await bookLost(deps, merchant, { chain, network, gone });
  const isAhead = await hasCreditedAbove(deps.db, merchantId, { network, height: blocks.upTo });
  return { known: known.length, missed: missed.length, isAhead };
}

const keyOf = (network: Network, { txId, index }: ChainTransfer) =>
  transactionKey({ network, tx_id: txId, index });

async function scanBlocks(
  chain: Chain,
  watch: readonly string[] | WatchSet,
  { network, above, upTo }: Blocks,
): Promise<{ found: Map<string, ChainTransfer>; readTo: bigint; unread: ReadonlySet<string> }> {
  let readTo = upTo;
  const unread = new Set<string>();
  const found = new Map<string, ChainTransfer>();
  let cursor = await chain.cursorAt(above);
  for (let complete = false; !complete; ) {
    const page = await chain.scan({ level: 'final', cursor, watch, upTo, isCheck: true });
    for (const transfer of page.transfers) found.set(keyOf(network, transfer), transfer);
    ({ cursor, complete } = page);
    if (page.head.finalHeight < readTo) readTo = page.head.finalHeight;
    for (const watched of page.unread ?? []) unread.add(watched);
  }
  return { found, readTo, unread };
}

/** Leaves out transfers beyond the cursor: the regular scan will read these. */
async function excludeUnread(
  deps: PaymentDeps,
  { merchantId }: MerchantRef,
  { chain, network, upTo, extra }: { chain: Chain; network: Network; upTo: bigint; extra: ChainTransfer[] },
): Promise<ChainTransfer[]> {
  if (extra.length === 0) return [];
  const cursor = await findCursor(deps.db, merchantId, network);
  if (cursor === null) return [];
  const watch = new WatchedAddresses(deps.db, { merchantId, network });
  const unread = new Set<string>();
  for (let at = cursor, complete = false; !complete; ) {
    const page = await chain.scan({ level: 'final', cursor: at, watch, upTo, isCheck: true });
    for (const transfer of page.transfers) unread.add(keyOf(network, transfer));
    ({ cursor: at, complete } = page);
  }
  return extra.filter((one) => !unread.has(keyOf(network, one)));
}

/** Scans once more for absent transfers, since a single answer may be a node's mistake. */
async function stillAbsent(
  chain: Chain,
  blocks: Blocks,
  absent: readonly FinalTransfer[],
): Promise<FinalTransfer[]> {
  if (absent.length === 0) return [];
  const { found, readTo, unread } = await scanBlocks(
    chain,
    absent.map((row) => row.watch),
    blocks,
  );
  // A node that has fallen behind proves nothing, though it may have come further since.
  return absent.filter(
    (row) => !found.has(row.key) && !unread.has(row.watch) && BigInt(row.height) <= readTo,
  );
}

async function bookLost(
  deps: PaymentDeps,
  merchant: MerchantRef,
  { chain, network, gone }: { chain: Chain; network: Network; gone: readonly FinalTransfer[] },
): Promise<void> {
  const { merchantId } = merchant;
  const time = merchantTime(deps, merchant);
  const lowest = gone.reduce(
    (least, row) => (row.height < least ? row.height : least),
    gone[0]?.height ?? 0n,
  );
  const before = await chain.cursorAt(BigInt(lowest) - 1n);
  const lost = await transact(deps.db, async (tx) => {
    const rows = await markLost(tx, { merchantId, network }, gone, time.seconds);
    if (rows.length === 0) return rows;
    await post(tx, merchantId, rows.flatMap(lostPostings), time.seconds);
    await moveCursorBack(tx, { merchantId, network }, before);
    // What was credited early was not final: only that was a mistake.
    const what = gone.every((row) => row.isEarly) ? 'early_credit' : 'sending';
    const reason = `a reorganisation took ${rows.length} credited transfers`;
    const times = { nowSeconds: time.seconds, nowMs: time.realMs };
    await stopNetwork(tx, merchant, network, { what, reason, height: BigInt(lowest), ...times });
    // The sweep job cancels sweeps of lost deposits.
    const sweepJob = creditedJob(merchantId, network, time.realMs);
    await enqueue(tx, [scanJob(merchantId, network, time.realMs), sweepJob]);
    crashPoint('second-pass.before-commit');
    return rows;
  });
  if (lost.length === 0) return;
  const fields = {
    merchantId,
    network,
    transfers: lost.length,
    tx_ids: [...new Set(lost.map((row) => row.txId))],
  };
  deps.log.error(fields, 'a reorganisation took credited transfers (florin networks list, networks resume)');
}
