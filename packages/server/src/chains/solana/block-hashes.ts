import { NodeError } from '../rpc/node.ts';
import { slicesOf } from '../rpc/slices.ts';
import type { Heads } from './heads.ts';
import { blockRequest, readBlock, readSlots } from './ledger-range.ts';
import type { SolanaNode } from './node.ts';
import { orUnavailable, readBase58, readRecord, readResult } from './node-answers.ts';

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
 * @param of `isFresh`: the newest block is of now, so that the chain ends there
 * @throws ChainUnavailable
 */
export async function readBlockHashes(
  node: SolanaNode,
  { tip, final }: Heads,
  { heights, isFresh }: { heights: readonly bigint[]; isFresh: boolean },
): Promise<Map<bigint, string | null>> {
  const hashes = new Map<bigint, string | null>();
  const there = heights.filter((height) => height >= 0n && height <= final.slot).toSorted(compare);
  for (const part of spans(there))
    for (const [height, hash] of await readSpan(node, part, final.slot)) hashes.set(height, hash);
  // A node that catches up knows nothing of what it has not reached.
  if (isFresh) for (const height of heights) if (height > tip.slot + LAG_MAX) hashes.set(height, null);
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

/**
 * A slot without a block is told by the block behind it, which names the slot of its parent. The list of slots alone would show a node
 * without some blocks the hash of an earlier one, as if the chain had been replaced.
 */
async function readSpan(
  node: SolanaNode,
  heights: readonly bigint[],
  final: bigint,
): Promise<[bigint, string][]> {
  const first = (heights[0] ?? 0n) - SPAN_BEFORE;
  const last = (heights.at(-1) ?? 0n) + SPAN_BEFORE;
  const range = [Number(first < 0n ? 0n : first), Number(last < final ? last : final)];
  const answer = await orUnavailable(node.agreed('getBlocks', [...range, { commitment: 'finalized' }]));
  const slots = readSlots(answer);
  const placed = heights.flatMap((height) => {
    const slot = slots.findLast((one) => one <= height);
    const next = slot === height ? undefined : slots.find((one) => one > height);
    return slot === undefined || (slot !== height && next === undefined) ? [] : [{ height, slot, next }];
  });
  const wanted = [...new Set(placed.flatMap(({ slot, next }) => [slot, next ?? slot]))];
  const blocks = await readBlocks(node, wanted);
  return placed.flatMap(({ height, slot, next }): [bigint, string][] => {
    const block = blocks.get(slot);
    const isLast = next === undefined || blocks.get(next)?.parentSlot === slot;
    return block === undefined || !isLast ? [] : [[height, block.hash]];
  });
}

async function readBlocks(
  node: SolanaNode,
  slots: readonly bigint[],
): Promise<Map<bigint, { hash: string; parentSlot: bigint }>> {
  const found = new Map<bigint, { hash: string; parentSlot: bigint }>();
  for (const part of slicesOf(slots, BLOCKS_AT_ONCE)) {
    const answers = await node.agreedMany(part.map((slot) => blockRequest(slot)));
    for (const [place, slot] of part.entries()) {
      const answer = answers[place];
      // Nodes clean old blocks up: of those nothing is known any more.
      if (answer instanceof NodeError && answer.code === -32_001) continue;
      const { blockhash } = readRecord(readResult(answer), `the block of slot ${slot}`);
      const hash = readBase58(blockhash, 'a blockhash');
      found.set(slot, { hash, parentSlot: readBlock(slot, answer).parentSlot });
    }
  }
  return found;
}
