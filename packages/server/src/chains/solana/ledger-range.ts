import { ChainUnavailable } from '../port/port-errors.ts';
import type { NodeRequest } from '../rpc/node.ts';
import type { Epoch, SolanaNode } from './node.ts';
import { orUnavailable, readList, readNumber, readRecord, readResult } from './node-answers.ts';

// A node that began again from a snapshot has old slots, a hole, and new ones, and says of what lies in the hole that there is none.
// Slots are skipped as a matter of course, block heights are not: a range is whole where it has as many blocks as their heights differ.

/** Leaders have four slots each, and some in a row may be away. */
const SKIPPED_MAX = 200n;
const STEPS_MAX = 40;
const SLOTS_PER_CALL = 100_000n;
const FINALIZED = { commitment: 'finalized' } as const;

/** A final block. */
export interface LedgerBlock extends Epoch {
  parentSlot: bigint;
}

/** @param details `signatures`: refused by a node that has the block and not what became of its transactions */
export function blockRequest(slot: bigint, details: 'none' | 'signatures' = 'none'): NodeRequest {
  const config = { ...FINALIZED, transactionDetails: details, rewards: false };
  return { method: 'getBlock', params: [Number(slot), { ...config, maxSupportedTransactionVersion: 0 }] };
}

export function readBlock(slot: bigint, answer: unknown): LedgerBlock {
  const { blockHeight, parentSlot } = readRecord(readResult(answer), `the block of slot ${slot}`);
  return {
    slot,
    blockHeight: readNumber(blockHeight, 'a block height'),
    parentSlot: readNumber(parentSlot, 'the slot of a parent'),
  };
}

export const readSlots = (answer: unknown): bigint[] =>
  readList(readResult(answer), 'slots').map((slot) => readNumber(slot, 'a slot'));

/** Of a block, or of the first block where the chain is younger. @throws ChainUnavailable where the nodes do not have it any more */
export async function findBlockAtOrBelow(
  node: SolanaNode,
  from: Epoch,
  blockHeight: bigint,
): Promise<LedgerBlock> {
  const wanted = blockHeight < 0n ? 0n : blockHeight;
  let { slot, blockHeight: height } = from;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    // So many slots hold at most as many blocks: the one that is wanted is not passed.
    const to = slot - (height - wanted);
    const since = to < SKIPPED_MAX ? 0n : to - SKIPPED_MAX;
    const range = [Number(since), Number(to < 0n ? 0n : to), FINALIZED];
    const found = readSlots(await orUnavailable(node.agreed('getBlocks', range))).at(-1);
    if (found === undefined) break;
    const { method, params } = blockRequest(found);
    const block = readBlock(found, await orUnavailable(node.agreed(method, params)));
    if (block.blockHeight <= wanted) return block;
    if (block.slot >= slot && step > 0) break;
    ({ slot, blockHeight: height } = block);
  }
  throw new ChainUnavailable('spl', `the nodes keep no blocks as old as block ${wanted}`);
}

/**
 * That the nodes have every final block behind a slot, up to another: what they do not list there is not there.
 *
 * @throws ChainUnavailable
 */
export async function assertWhole(node: SolanaNode, after: bigint, final: Epoch): Promise<void> {
  if (final.slot <= after) return;
  let count = 0n;
  let first: bigint | undefined;
  let last: bigint | undefined;
  for (let from = after < 0n ? 0n : after + 1n; from <= final.slot; from += SLOTS_PER_CALL) {
    const end = from + SLOTS_PER_CALL - 1n;
    const range = [Number(from), Number(end < final.slot ? end : final.slot), FINALIZED];
    const slots = readSlots(await orUnavailable(node.agreed('getBlocks', range)));
    count += BigInt(slots.length);
    first ??= slots[0];
    last = slots.at(-1) ?? last;
  }
  if (first === undefined || last !== final.slot) throw holeIn(after, final.slot);
  const [one, other] = await node.agreedMany([blockRequest(first), blockRequest(last)]);
  const [begin, end] = [readBlock(first, one), readBlock(last, other)];
  // The chain's first block is its own parent.
  const isNext = begin.slot === 0n || begin.parentSlot <= after;
  if (!isNext || end.blockHeight - begin.blockHeight !== count - 1n) throw holeIn(after, final.slot);
}

export function holeIn(after: bigint, upTo: bigint): ChainUnavailable {
  return new ChainUnavailable(
    'spl',
    `the nodes do not have all blocks between slots ${after} and ${upTo}: what is missing there proves nothing`,
  );
}
