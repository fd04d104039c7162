import type { SignedTx, TxStatus } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { NodeRequest } from '../rpc/node.ts';
import { type Failure, failureOf } from './failures.ts';
import type { HeadFeed, Heads } from './heads.ts';
import { blockRequest, findBlockAtOrBelow, holeIn, readBlock, readSlots } from './ledger-range.ts';
import type { SolanaNode } from './node.ts';
import {
  orUnavailable,
  readContext,
  readList,
  readNumber,
  readRecord,
  readResult,
  unusable,
} from './node-answers.ts';
import { readSigned } from './signing.ts';

/** A transaction can be in the 150 blocks up to its last valid one, which may have been named 150 blocks too high. */
const UNCERTAIN_BLOCKS = 300n;

export interface StatusContext {
  node: SolanaNode;
  feed: HeadFeed;
  /** The newest slot when a node took the transaction from this process. */
  acceptedAt(txId: string): bigint | undefined;
}

/** A status, and of a failed transaction what has failed. */
export type SolanaStatus = TxStatus & { failure?: Failure };

/**
 * What the chain says of a transaction. It is dead only where a final block has passed the last one that it can be in, and two
 * endpoints that have reached that final block, and whose history goes back far enough, do not know it: asked afterwards.
 *
 * @throws ChainUnavailable
 */
export async function readStatus(context: StatusContext, tx: SignedTx): Promise<SolanaStatus> {
  const { node, feed } = context;
  const heads = await feed.heads('now');
  const found = readStatuses(await orUnavailable(node.call(...searchFor(tx))));
  if (found === undefined) {
    const lastValid = tx.validUntil?.height;
    if (lastValid !== undefined && heads.final.blockHeight > BigInt(lastValid))
      return await proveDead(context, heads, tx, BigInt(lastValid));
    // No node keeps transactions that wait: it may be on its way as long as no block has come since it was taken.
    const isPending = context.acceptedAt(tx.txId) === heads.tip.slot;
    return { state: isPending ? 'pending' : 'unknown', final: false };
  }
  if (found.commitment === 'processed') return { state: 'pending', final: false };
  if (found.commitment === 'confirmed') return describe(tx, found);
  return await readFinal(node, tx);
}

interface Found {
  slot: bigint;
  err: unknown;
  commitment: 'processed' | 'confirmed' | 'finalized';
}

const searchFor = ({ txId }: SignedTx): [string, unknown[]] => [
  'getSignatureStatuses',
  [[txId], { searchTransactionHistory: true }],
];

/** Undefined: the node does not know it. */
function readStatuses(answer: unknown): Found | undefined {
  const { value } = readContext(answer, 'getSignatureStatuses');
  const [status] = readList(value, 'getSignatureStatuses');
  if (status === undefined) throw unusable('getSignatureStatuses leaves a transaction out');
  if (status === null) return undefined;
  const { slot, err = null, confirmationStatus } = readRecord(status, 'a status');
  const commitment = (['processed', 'confirmed', 'finalized'] as const).find(
    (one) => one === confirmationStatus,
  );
  if (commitment === undefined) throw unusable('a status of no known commitment');
  return { slot: readNumber(slot, 'the slot of a status'), err, commitment };
}

function describe({ itemIds, raw }: SignedTx, { slot, err, commitment }: Found, fee?: bigint): SolanaStatus {
  const final = commitment === 'finalized';
  const base = { final, height: slot, ...(fee !== undefined && { fee }) };
  // A transaction moves everything, or nothing.
  const itemOk = itemIds.map(() => err === null);
  if (err !== null) {
    const failure = failureOf(err, readSigned(raw)?.message);
    return { state: 'failed', ...base, itemOk, reason: failure.reason, failure };
  }
  return { state: final ? 'final' : 'included', ...base, itemOk };
}

/** As two endpoints know it. */
async function readFinal(node: SolanaNode, tx: SignedTx): Promise<SolanaStatus> {
  const [method, params] = searchFor(tx);
  const config = { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion: 0 };
  const answers = await node.agreedMany([
    { method, params },
    { method: 'getTransaction', params: [tx.txId, config] },
  ]);
  const found = readStatuses(readResult(answers[0]));
  if (found === undefined || found.commitment !== 'finalized')
    throw disagreement(`whether ${tx.txId} is final`);
  const whole = readRecord(readResult(answers[1]), `the transaction ${tx.txId}`);
  const { fee } = readRecord(whole.meta, `the outcome of ${tx.txId}`);
  return describe(tx, found, readNumber(fee, `the fee of ${tx.txId}`));
}

/**
 * Asked of the same endpoints, in one batch: that they have reached the final block, that its blockhash is none there, that they have all
 * blocks that could hold it, and then that they do not know it.
 */
async function proveDead(
  { node, feed }: StatusContext,
  { final }: Heads,
  tx: SignedTx,
  lastValid: bigint,
): Promise<SolanaStatus> {
  const { requests, begin, end, count } = await findRange(node, final, { tx, lastValid });
  const [reached, validity, listed, first, last, searched] = await node.agreedMany(requests);
  const found = readStatuses(readResult(searched));
  // The first endpoint may keep less history than the others.
  if (found !== undefined)
    return found.commitment === 'finalized' ? await readFinal(node, tx) : describe(tx, found);
  if (readNumber(readResult(reached), 'a block height') <= lastValid)
    throw disagreement('which blocks are final');
  const { value: isValid } = readContext(readResult(validity), 'isBlockhashValid');
  if (typeof isValid !== 'boolean') throw unusable('isBlockhashValid answers neither yes nor no');
  // Whatever was named as its last block: it may still come into one.
  if (isValid) return { state: 'unknown', final: false };
  const slots = readSlots(listed);
  const [from, to] = [readBlock(begin, first), readBlock(end, last)];
  const isFromBefore = from.blockHeight === 0n || from.blockHeight + UNCERTAIN_BLOCKS <= lastValid;
  const isWhole = slots.length === count && to.blockHeight - from.blockHeight === BigInt(count - 1);
  const isToBehind = to.blockHeight > lastValid && slots[0] === begin && slots.at(-1) === end;
  if (!isFromBefore || !isWhole || !isToBehind) throw holeIn(begin, end);
  // A node that was restored to an earlier block between the reads proves nothing.
  const after = await feed.heads('now');
  if (after.final.slot < final.slot || after.final.blockHeight <= lastValid)
    throw disagreement('which blocks are final');
  return { state: 'dead', final: true, height: final.slot, reason: 'its last valid block is passed' };
}

/** The blocks that could hold a transaction, from one before them to one behind, and what shows that nodes have all of them. */
async function findRange(
  node: SolanaNode,
  final: Heads['final'],
  { tx, lastValid }: { tx: SignedTx; lastValid: bigint },
) {
  const blockhash = readSigned(tx.raw)?.message.blockhash;
  if (blockhash === undefined) throw unusable(`the bytes of ${tx.txId} name no block`);
  const before = await findBlockAtOrBelow(node, final, lastValid - UNCERTAIN_BLOCKS);
  const count = Number(lastValid - before.blockHeight) + 2;
  const range: NodeRequest = {
    method: 'getBlocksWithLimit',
    params: [Number(before.slot), count, { commitment: 'finalized' }],
  };
  const end = readSlots(await orUnavailable(node.agreed(range.method, range.params))).at(-1);
  if (end === undefined) throw holeIn(before.slot, final.slot);
  const finalized = { commitment: 'finalized', minContextSlot: Number(final.slot) };
  const [method, params] = searchFor(tx);
  const requests: NodeRequest[] = [
    { method: 'getBlockHeight', params: [finalized] },
    { method: 'isBlockhashValid', params: [blockhash, finalized] },
    range,
    blockRequest(before.slot, 'signatures'),
    blockRequest(end, 'signatures'),
    { method, params },
  ];
  return { requests, begin: before.slot, end, count };
}

function disagreement(what: string): ChainUnavailable {
  return new ChainUnavailable('spl', `the nodes do not agree ${what}`);
}
