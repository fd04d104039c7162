import type { SnapshotHeads } from './scan.ts';

/** Of so many blocks a node that lags may be short, or another that answers for it: 13 minutes of Ethereum's mainnet. */
const LAG_MAX = 64n;

interface FinalBlocks {
  snapshot(): Promise<SnapshotHeads>;
  newSnapshot(): Promise<SnapshotHeads>;
  finalHeaders(heights: readonly bigint[]): Promise<ReadonlyMap<bigint, { hash: string }>>;
}

/** As `Chain.blockHashes` has it, where a hash stands for all blocks before it. */
export async function readBlockHashes(
  feed: FinalBlocks,
  heights: readonly bigint[],
  now: 'now' | undefined,
): Promise<ReadonlyMap<bigint, string | null>> {
  const isBeyond = (height: bigint, head: bigint) => height > head + LAG_MAX;
  const known = now === undefined ? await feed.snapshot() : await feed.newSnapshot();
  // Another process may have seen newer blocks than those that were read some seconds ago.
  const isOld = now === undefined && heights.some((height) => isBeyond(height, known.head.height));
  const { head, final } = isOld ? await feed.newSnapshot() : known;
  const there = heights.filter((height) => height >= 0n && height <= final.height);
  const headers = await feed.finalHeaders(there);
  return new Map<bigint, string | null>([
    ...[...headers].map(([height, { hash }]) => [height, hash] as const),
    ...heights.filter((height) => isBeyond(height, head.height)).map((height) => [height, null] as const),
  ]);
}
