import type { SignedTx, TxStatus } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { HeadFeed, Heads } from './heads.ts';
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

/** A transaction can be in the 150 blocks up to its last valid one. */
const LIFETIME_BLOCKS = 150n;

export interface StatusContext {
  node: SolanaNode;
  feed: HeadFeed;
  /** The newest slot when a node took the transaction from this process. */
  acceptedAt(txId: string): bigint | undefined;
}

/**
 * What the chain says of a transaction. It is dead only where a final block has passed the last one that it can be in, and two
 * endpoints that have reached that final block, and whose history goes back far enough, do not know it: asked afterwards.
 *
 * @throws ChainUnavailable
 */
export async function readStatus(context: StatusContext, tx: SignedTx): Promise<TxStatus> {
  const { node, feed } = context;
  const heads = await feed.newHeads();
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

function describe({ itemIds }: SignedTx, { slot, err, commitment }: Found, fee?: bigint): TxStatus {
  const final = commitment === 'finalized';
  const base = { final, height: slot, ...(fee !== undefined && { fee }) };
  // A transaction moves everything, or nothing.
  const itemOk = itemIds.map(() => err === null);
  if (err !== null) return { state: 'failed', ...base, itemOk, reason: reasonOf(err) };
  return { state: final ? 'final' : 'included', ...base, itemOk };
}

/** As two endpoints know it. */
async function readFinal(node: SolanaNode, tx: SignedTx): Promise<TxStatus> {
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

async function proveDead(
  { node, feed }: StatusContext,
  { final }: Heads,
  tx: SignedTx,
  lastValid: bigint,
): Promise<TxStatus> {
  const [method, params] = searchFor(tx);
  const since = beginOf(final, lastValid);
  const finalized = { commitment: 'finalized', minContextSlot: Number(final.slot) };
  const answers = await node.agreedMany([
    { method: 'getBlockHeight', params: [finalized] },
    { method: 'getBlocksWithLimit', params: [Number(since), 1, { commitment: 'finalized' }] },
    { method, params },
  ]);
  const height = readNumber(readResult(answers[0]), 'a block height');
  const [first] = readList(readResult(answers[1]), 'getBlocksWithLimit');
  const found = readStatuses(readResult(answers[2]));
  // The first endpoint may keep less history than the others.
  if (found !== undefined)
    return found.commitment === 'finalized' ? await readFinal(node, tx) : describe(tx, found);
  if (height <= lastValid) throw disagreement('which blocks are final');
  await assertHistory(node, tx, { first, lastValid });
  // A node that was restored to an earlier block between the reads proves nothing.
  const after = await feed.newHeads();
  if (after.final.slot < final.slot || after.final.blockHeight <= lastValid)
    throw disagreement('which blocks are final');
  return { state: 'dead', final: true, height: final.slot, reason: 'its last valid block is passed' };
}

/** A slot below the first block that could hold it, where at least every other slot since has had a block. */
function beginOf({ slot, blockHeight }: Heads['final'], lastValid: bigint): bigint {
  const behind = 2n * (blockHeight - lastValid + LIFETIME_BLOCKS);
  return behind > slot ? 0n : slot - behind;
}

/** A node that has cleaned these blocks up does not know what was in them. */
async function assertHistory(
  node: SolanaNode,
  { txId }: SignedTx,
  { first, lastValid }: { first: unknown; lastValid: bigint },
): Promise<void> {
  const slot = readNumber(first, 'the first block of a history');
  const config = { commitment: 'finalized', transactionDetails: 'none', rewards: false };
  const block = await orUnavailable(node.agreed('getBlock', [Number(slot), config]));
  const height = readNumber(readRecord(block, 'a block').blockHeight, 'a block height');
  if (height > 0n && height + LIFETIME_BLOCKS > lastValid)
    throw new ChainUnavailable(
      'spl',
      `the nodes keep no blocks as old as ${txId}: whether it is mined needs one that does`,
    );
}

/** Codes of the token program that have a name of ours. */
const TOKEN_ERRORS = new Map<unknown, string>([
  [1, 'insufficient_funds'],
  [3, 'wrong_mint'],
  [4, 'wrong_owner'],
  [17, 'account_frozen'],
]);

/** `{"InstructionError":[3,{"Custom":17}]}` and the like, for people. */
function reasonOf(err: unknown): string {
  if (typeof err === 'string') return err.slice(0, 100);
  if (typeof err !== 'object' || err === null || !('InstructionError' in err)) return 'refused';
  const [place, inner]: unknown[] = Array.isArray(err.InstructionError) ? err.InstructionError : [];
  const custom = typeof inner === 'object' && inner !== null && 'Custom' in inner ? inner.Custom : undefined;
  const known = TOKEN_ERRORS.get(custom);
  if (known !== undefined) return known;
  const what = custom === undefined ? JSON.stringify(inner) : `error ${JSON.stringify(custom)}`;
  return `instruction ${String(place)}: ${what}`.slice(0, 100);
}

function disagreement(what: string): ChainUnavailable {
  return new ChainUnavailable('spl', `the nodes do not agree ${what}`);
}
