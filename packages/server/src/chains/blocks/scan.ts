import type { ChainTransfer, Head, ScanAnswer, ScanQuery } from '../port/port.ts';
import { type Freshness, scanLimit } from '../port/port-scan.ts';
import { firstBlockAfter, isAfter, type Position, readCursor, writeCursor } from './cursor.ts';

const FINAL_LIMIT = 1_000;
const TIP_LIMIT = 10_000;
/** Blocks that one scan reads at once, and at most. On mainnet of Ethereum they hold up to 300 transfers each. */
const BLOCKS_AT_ONCE = 64n;
const BLOCKS_MAX = 512n;

/** A transfer by its place on the chain. */
export interface PlacedTransfer {
  to: string;
  height: bigint;
  /** Among the logs of its block. */
  logIndex: number;
}

/** The newest blocks of a network, and their transfers, as read for all merchants together. */
export interface BlockSource<T extends PlacedTransfer, Snapshot extends SnapshotHeads> {
  /** @throws ChainUnavailable, as all of these */
  snapshot(freshness?: Freshness): Promise<Snapshot>;
  /** Of final blocks, in order. */
  finalTransfers(from: bigint, to: bigint): Promise<T[]>;
  /** Of the blocks above the final one, from that height on, in order. */
  tipTransfers(snapshot: Snapshot, from: bigint): Promise<T[]>;
  /** As the port has them. */
  present(snapshot: Snapshot, transfers: readonly T[]): Promise<ChainTransfer[]>;
}

export interface SnapshotHeads {
  head: { height: bigint /** Unix seconds. */; time: number };
  final: { height: bigint };
}

export interface ScanContext<T extends PlacedTransfer, Snapshot extends SnapshotHeads> {
  source: BlockSource<T, Snapshot>;
  /** What a scan without cursor begins with. */
  beginsAt: bigint;
}

/** Scans a network whose blocks are read one after the other. @throws RangeError, ChainUnavailable */
export async function scanBlocks<T extends PlacedTransfer, Snapshot extends SnapshotHeads>(
  context: ScanContext<T, Snapshot>,
  query: ScanQuery,
): Promise<ScanAnswer> {
  const position = query.cursor === null ? undefined : readCursor(query.cursor);
  const limit = scanLimit(query, query.level === 'final' ? FINAL_LIMIT : TIP_LIMIT);
  const snapshot = await context.source.snapshot(query.freshness);
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

export function headOf({ head, final }: SnapshotHeads): Head {
  return { height: head.height, finalHeight: final.height, time: head.time };
}

interface Part<Snapshot> {
  snapshot: Snapshot;
  limit: number;
  after: Position;
}

async function scanFinal<T extends PlacedTransfer, Snapshot extends SnapshotHeads>(
  { source }: ScanContext<T, Snapshot>,
  query: ScanQuery,
  { snapshot, limit, after }: Part<Snapshot>,
): Promise<ScanAnswer> {
  const { final } = snapshot;
  const last = query.upTo === undefined || query.upTo > final.height ? final.height : query.upTo;
  const begin = firstBlockAfter(after);
  const end = begin + BLOCKS_MAX - 1n < last ? begin + BLOCKS_MAX - 1n : last;
  const found: T[] = [];
  // A node may lag behind the cursor, which never moves back.
  let position: Position = after;
  for (let from = begin; from <= end && found.length <= limit; from = position.height + 1n) {
    const to = from + BLOCKS_AT_ONCE - 1n < end ? from + BLOCKS_AT_ONCE - 1n : end;
    const transfers = await source.finalTransfers(from, to);
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
    transfers: await source.present(snapshot, page),
    cursor: writeCursor(position),
    complete,
    head: headOf(snapshot),
  };
}

async function scanTip<T extends PlacedTransfer, Snapshot extends SnapshotHeads>(
  { source }: ScanContext<T, Snapshot>,
  query: ScanQuery,
  { snapshot, limit, after }: Part<Snapshot>,
): Promise<ScanAnswer> {
  const { final } = snapshot;
  const answer = { cursor: query.cursor ?? writeCursor(after), head: headOf(snapshot) };
  const begin = firstBlockAfter(after);
  // A scan of the final blocks catches up first.
  if (final.height - begin > BLOCKS_MAX) return { ...answer, transfers: [], complete: false };
  const below = begin <= final.height ? await source.finalTransfers(begin, final.height) : [];
  const found = below.concat(await source.tipTransfers(snapshot, begin));
  const open = found.filter((one) => isAfter(one, after));
  const watched = await keepWatched(open, query.watch);
  const transfers = await source.present(snapshot, watched.slice(0, limit));
  return { ...answer, transfers, complete: watched.length <= limit };
}

async function keepWatched<T extends PlacedTransfer>(
  transfers: readonly T[],
  watch: ScanQuery['watch'],
): Promise<T[]> {
  if (transfers.length === 0) return [];
  const own =
    'among' in watch ? await watch.among([...new Set(transfers.map(({ to }) => to))]) : new Set(watch);
  return transfers.filter(({ to }) => own.has(to));
}
