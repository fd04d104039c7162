import type { Freshness } from '../port/port-scan.ts';
import type { SnapshotHeads } from './scan.ts';

/** Of so many blocks a node that lags may be short, or another that answers for it: 13 minutes of Ethereum's mainnet. */
const LAG_MAX = 64n;

interface FinalBlocks {
  snapshot(freshness?: Freshness): Promise<SnapshotHeads>;
  /** Of a final block that was read before and is, by the last snapshot, still there. */
  keptHeader?(height: bigint): { hash: string } | undefined;
  finalHeaders(heights: readonly bigint[]): Promise<ReadonlyMap<bigint, { hash: string }>>;
}

/** As `Chain.blockHashes` has it, where a hash stands for all blocks before it. */
export async function readBlockHashes(
  feed: FinalBlocks,
  heights: readonly bigint[],
  freshness: Freshness = 'recent',
): Promise<ReadonlyMap<bigint, string | null>> {
  const isBeyond = (height: bigint, head: bigint) => height > head + LAG_MAX;
  const known = await feed.snapshot(freshness);
  // Another process may have seen newer blocks than those that were read some time ago.
  const isOld = freshness !== 'now' && heights.some((height) => isBeyond(height, known.head.height));
  const { head, final } = isOld ? await feed.snapshot('now') : known;
  const there = heights.filter((height) => height >= 0n && height <= final.height);
  const kept = freshness === 'now' ? [] : there.map((height) => [height, feed.keptHeader?.(height)] as const);
  const headers = new Map(
    kept.flatMap(([height, header]) => (header === undefined ? [] : [[height, header]])),
  );
  const missing = there.filter((height) => !headers.has(height));
  if (missing.length > 0)
    for (const [height, header] of await feed.finalHeaders(missing)) headers.set(height, header);
  return new Map<bigint, string | null>([
    ...[...headers].map(([height, { hash }]) => [height, hash] as const),
    ...heights.filter((height) => isBeyond(height, head.height)).map((height) => [height, null] as const),
  ]);
}
