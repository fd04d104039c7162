import {
  type ChainTransfer,
  ChainUnavailable,
  type Head,
  type ScanAnswer,
  type ScanQuery,
} from '../port/port.ts';
import { scanLimit } from '../port/port-scan.ts';
import type { BlockFeed } from './blocks.ts';
import { firstBlockAfter, isAfter, type Position, readCursor, writeCursor } from './cursor.ts';
import type { Header } from './headers.ts';
import type { IndexedTransfer } from './receipt-transfers.ts';
import type { Snapshot } from './tip.ts';
import type { LoggedTransfer } from './transfer-logs.ts';

const FINAL_LIMIT = 1_000;
const TIP_LIMIT = 10_000;
/** Blocks that one scan reads from the feed at once, and at most. On mainnet they hold up to 300 transfers each. */
const BLOCKS_AT_ONCE = 64n;
const BLOCKS_MAX = 512n;

export interface ScanContext {
  feed: BlockFeed;
  /** What a scan without cursor begins with. */
  beginsAt: bigint;
  /** From so many confirmations on two endpoints must agree on a transfer above the final block; null: never. */
  earlyConfirmations: number | null;
}

/** @throws RangeError, ChainUnavailable */
export async function scanBlocks(context: ScanContext, query: ScanQuery): Promise<ScanAnswer> {
  const position = query.cursor === null ? undefined : readCursor(query.cursor);
  const limit = scanLimit(query, query.level === 'final' ? FINAL_LIMIT : TIP_LIMIT);
  const snapshot = await context.feed.snapshot();
  return query.level === 'final'
    ? await scanFinal(context, query, {
        snapshot,
        limit,
        after: position ?? { height: context.beginsAt - 1n },
      })
    : await scanTip(context, query, {
        snapshot,
        limit,
        after: position ?? { height: snapshot.final.height },
      });
}

export function headOf({ head, final }: Snapshot): Head {
  return { height: head.height, finalHeight: final.height, time: head.time };
}

interface Part {
  snapshot: Snapshot;
  limit: number;
  after: Position;
}

async function scanFinal(context: ScanContext, query: ScanQuery, part: Part): Promise<ScanAnswer> {
  const { snapshot, limit, after } = part;
  const { final } = snapshot;
  const last = query.upTo === undefined || query.upTo > final.height ? final.height : query.upTo;
  const begin = firstBlockAfter(after);
  const end = begin + BLOCKS_MAX - 1n < last ? begin + BLOCKS_MAX - 1n : last;
  const found: LoggedTransfer[] = [];
  // A node may lag behind the cursor, which never moves back.
  let position: Position = after;
  for (let from = begin; from <= end && found.length <= limit; from = position.height + 1n) {
    const to = from + BLOCKS_AT_ONCE - 1n < end ? from + BLOCKS_AT_ONCE - 1n : end;
    const transfers = await context.feed.finalTransfers(from, to);
    const open = transfers.filter((one) => isAfter(one, after));
    found.push(...(await keepWatched(open, query.watch)));
    position = { height: to };
  }
  const page = found.slice(0, limit);
  const rest = found[limit];
  const [newest] = page.slice(-1);
  if (rest !== undefined && newest !== undefined)
    position = { height: newest.height, logIndex: newest.logIndex };
  const complete = rest === undefined && position.height >= last;
  return {
    transfers: await present(context, snapshot, page),
    cursor: writeCursor(position),
    complete,
    head: headOf(snapshot),
  };
}

async function scanTip(context: ScanContext, query: ScanQuery, part: Part): Promise<ScanAnswer> {
  const { snapshot, limit, after } = part;
  const { final, tip } = snapshot;
  const answer = { cursor: query.cursor ?? writeCursor(after), head: headOf(snapshot) };
  const begin = firstBlockAfter(after);
  // A scan of the final blocks catches up first.
  if (final.height - begin > BLOCKS_MAX) return { ...answer, transfers: [], complete: false };
  const found: LoggedTransfer[] = [];
  if (begin <= final.height) found.push(...(await context.feed.finalTransfers(begin, final.height)));
  found.push(...(await context.feed.tipTransfers(tip.filter(({ height }) => height >= begin))));
  const open = found.filter((one) => isAfter(one, after));
  const watched = await keepWatched(open, query.watch);
  const transfers = await present(context, snapshot, watched.slice(0, limit));
  return { ...answer, transfers, complete: watched.length <= limit };
}

async function keepWatched(
  transfers: readonly LoggedTransfer[],
  watch: ScanQuery['watch'],
): Promise<LoggedTransfer[]> {
  if (transfers.length === 0) return [];
  const own =
    'among' in watch ? await watch.among([...new Set(transfers.map(({ to }) => to))]) : new Set(watch);
  return transfers.filter(({ to }) => own.has(to));
}

/** Reads what a log alone does not tell: the place in its transaction and the time of its block. */
async function present(
  { feed, earlyConfirmations }: ScanContext,
  { final, head, tip }: Snapshot,
  found: readonly LoggedTransfer[],
): Promise<ChainTransfer[]> {
  const finalOnes = found.filter(({ height }) => height <= final.height);
  const mayBeCredited = ({ height }: LoggedTransfer) =>
    height <= final.height ||
    (earlyConfirmations !== null && head.height - height + 1n >= BigInt(earlyConfirmations));
  const indexed = [
    ...(await feed.withIndexes(found.filter(mayBeCredited), 'two')),
    ...(await feed.withIndexes(
      found.filter((one) => !mayBeCredited(one)),
      'one',
    )),
  ];
  const headers = await feed.finalHeaders(finalOnes.map(({ height }) => height));
  for (const header of tip) headers.set(header.height, header);
  return indexed.map((one) => toChainTransfer(one, headers.get(one.height)));
}

function toChainTransfer(one: IndexedTransfer, header: Header | undefined): ChainTransfer {
  if (header?.hash !== one.blockHash)
    throw new ChainUnavailable('erc20', `block ${one.height} was replaced while it was read`);
  const { txId, index, asset, from, to, amount, height } = one;
  return { txId, index, asset, from, to, amount, height, time: header.time };
}
