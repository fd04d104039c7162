import { ChainUnavailable } from '../port/port-errors.ts';
import { type Header, readHeader } from './headers.ts';
import type { EvmNode } from './node.ts';
import { toQuantity } from './node-answers.ts';

/** The newest blocks at one moment, each the parent of the next. */
export interface Snapshot {
  head: Header;
  final: Header;
  /** Above `final`, upwards; the last one is `head`. */
  tip: readonly Header[];
}

const TRIES = 3;
/** Blocks that are read again at once where the chain has forked. */
const FORK_STEP = 8n;

/**
 * Reads the heads and the blocks between them. Of blocks that `before` has, only those that were replaced are read again.
 *
 * @throws ChainUnavailable, also where blocks change faster than they are read
 */
export async function readSnapshot(node: EvmNode, before: Snapshot | undefined): Promise<Snapshot> {
  for (let left = TRIES; left > 0; left--) {
    const final = readHeader(await node.newest('finalized'));
    const newest = readHeader(await node.newest('latest'));
    // Other endpoints may have answered the second time.
    const head = newest.height < final.height ? final : newest;
    const tip = await linkUp(node, { head, final, known: before?.tip ?? [] });
    if (tip !== undefined) return { head, final, tip };
  }
  throw new ChainUnavailable('erc20', 'blocks changed while they were read');
}

interface Link {
  head: Header;
  final: Header;
  known: readonly Header[];
}

/** From the head down to the final block by each block's parent; undefined where they do not fit. */
async function linkUp(node: EvmNode, { head, final, known }: Link): Promise<Header[] | undefined> {
  if (head.height === final.height) return head.hash === final.hash ? [] : undefined;
  const byHeight = new Map(known.map((header) => [header.height, header]));
  const tip = [head];
  for (let child = head; child.height - 1n > final.height; ) {
    const height = child.height - 1n;
    let parent = byHeight.get(height);
    if (parent?.hash !== child.parentHash) {
      for (const read of await readDown(node, { height, floor: final.height + 1n, byHeight }))
        byHeight.set(read.height, read);
      parent = byHeight.get(height);
      if (parent?.hash !== child.parentHash) return undefined;
    }
    tip.push(parent);
    child = parent;
  }
  return tip.at(-1)?.parentHash === final.hash ? tip.reverse() : undefined;
}

interface Down {
  height: bigint;
  floor: bigint;
  byHeight: ReadonlyMap<bigint, Header>;
}

async function readDown(node: EvmNode, { height, floor, byHeight }: Down): Promise<Header[]> {
  let lowest = height;
  if (byHeight.has(height)) lowest = height - FORK_STEP < floor ? floor : height - FORK_STEP;
  else while (lowest > floor && !byHeight.has(lowest - 1n)) lowest -= 1n;
  const heights = Array.from({ length: Number(height - lowest) + 1 }, (_, i) => lowest + BigInt(i));
  const blocks = await node.callMany(
    heights.map((one) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(one), false] })),
  );
  return blocks.flatMap((block) => (block === null || block instanceof Error ? [] : [readHeader(block)]));
}
