import { NodeError } from '../rpc/node.ts';
import { slicesOf } from '../rpc/slices.ts';
import type { Heads } from './heads.ts';
import type { SolanaNode } from './node.ts';
import { orUnavailable, readBase58, readList, readNumber, readRecord, readResult } from './node-answers.ts';

/** Of so many slots a node that lags may be short, or another that answers for it: a minute. */
const LAG_MAX = 150n;
const BLOCKS_AT_ONCE = 20;
const SPAN_MAX = 5_000n;
/** A leader has four slots, and some in a row may be away. */
const SPAN_BEFORE = 200n;

/**
 * The hash of the newest block at or below each slot, of those that are final: a slot without a block shows the one before it,
 * so that each hash changes where its block, or any before it, is replaced.
 *
 * @throws ChainUnavailable
 */
export async function readBlockHashes(
  node: SolanaNode,
  { tip, final }: Heads,
  heights: readonly bigint[],
): Promise<Map<bigint, string | null>> {
  const hashes = new Map<bigint, string | null>();
  const there = heights.filter((height) => height >= 0n && height <= final.slot).toSorted(compare);
  for (const part of spans(there))
    for (const [height, hash] of await readSpan(node, part)) hashes.set(height, hash);
  for (const height of heights) if (height > tip.slot + LAG_MAX) hashes.set(height, null);
  return hashes;
}

const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

/** Sorted heights in parts that one list of slots covers. */
function spans(heights: readonly bigint[]): bigint[][] {
  const parts: bigint[][] = [];
  for (const height of heights) {
    const part = parts.at(-1);
    const [first] = part ?? [];
    if (part !== undefined && first !== undefined && height - first < SPAN_MAX) part.push(height);
    else parts.push([height]);
  }
  return parts;
}

async function readSpan(node: SolanaNode, heights: readonly bigint[]): Promise<[bigint, string][]> {
  const first = (heights[0] ?? 0n) - SPAN_BEFORE;
  const range = [Number(first < 0n ? 0n : first), Number(heights.at(-1) ?? 0n), { commitment: 'finalized' }];
  const answer = await orUnavailable(node.agreed('getBlocks', range));
  const slots = readList(answer, 'getBlocks').map((slot) => readNumber(slot, 'a slot'));
  const slotOf = new Map(
    heights.map((height) => [height, slots.findLast((slot) => slot <= height)] as const),
  );
  const wanted = [...new Set([...slotOf.values()].filter((slot) => slot !== undefined))];
  const config = { commitment: 'finalized', transactionDetails: 'none', rewards: false };
  const hashes = new Map<bigint, string>();
  for (const part of slicesOf(wanted, BLOCKS_AT_ONCE)) {
    const requests = part.map((slot) => ({ method: 'getBlock', params: [Number(slot), config] }));
    const blocks = await node.agreedMany(requests);
    for (const [place, slot] of part.entries()) {
      const block = blocks[place];
      // Nodes clean old blocks up: of those nothing is known any more.
      if (block instanceof NodeError && block.code === -32_001) continue;
      const { blockhash } = readRecord(readResult(block), `the block of slot ${slot}`);
      hashes.set(slot, readBase58(blockhash, 'a blockhash'));
    }
  }
  return heights.flatMap((height) => {
    const slot = slotOf.get(height);
    const hash = slot === undefined ? undefined : hashes.get(slot);
    return hash === undefined ? [] : [[height, hash] as [bigint, string]];
  });
}
