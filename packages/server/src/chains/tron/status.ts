import type { SignedTx, TxStatus } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { TronFeed } from './feed.ts';
import { type Header, readHeader } from './headers.ts';
import { ofView, type TronNode } from './node.ts';
import {
  isNothing,
  orUnavailable,
  readHex,
  readNumber,
  readRecord,
  readResult,
  unusable,
} from './node-answers.ts';
import { readSigned } from './signing.ts';

/** So many seconds a block is solid behind its making, as a rule. */
const SOLID_SECONDS = 57;
/** Past its expiration: another node of the same provider may be some blocks behind the one that named the newest block. */
const EXPIRED_MS = 60_000n;
/** What the bytes of a transaction name of the number of its reference block. */
const REFERABLE = 65_536n;
const BLOCK_MS = 3_000n;
/** Blocks that the reference is before the expiration, at most: an hour, six times as long as any transaction is valid. */
const REFERENCE_AGE = 1_200n;

interface Nodes {
  node: TronNode;
  feed: TronFeed;
}

/** @throws ChainUnavailable */
export async function readStatus(nodes: Nodes, tx: SignedTx): Promise<TxStatus> {
  const { node } = nodes;
  const final = readInfo(await orUnavailable(node.agreed(infoCall('solid'), [{ value: tx.txId }])), tx);
  if (final !== undefined)
    return { ...final, state: final.state === 'included' ? 'final' : 'failed', final: true };
  const dead = await proveDead(nodes, tx);
  if (dead !== undefined) return { state: 'dead', final: true, height: dead.height };
  const seen = readInfo(await orUnavailable(node.call(infoCall('head'), [{ value: tx.txId }])), tx);
  if (seen !== undefined) {
    const { head } = await nodes.feed.snapshot();
    return { ...seen, finalAt: Math.max(head.time, seen.time + SOLID_SECONDS) };
  }
  const waiting = await orUnavailable(node.call('wallet/gettransactionfrompending', [{ value: tx.txId }]));
  return { state: isNothing(waiting) ? 'unknown' : 'pending', final: false };
}

const infoCall = (view: 'head' | 'solid') => ofView(view, 'gettransactioninfobyid');

interface Included extends TxStatus {
  state: 'included' | 'failed';
  time: number;
}

/** @returns undefined where the node has no such transaction in a block */
function readInfo(answer: unknown, tx: SignedTx): Included | undefined {
  if (isNothing(answer)) return undefined;
  const info = readRecord(answer, 'a transaction');
  if (readHex(info.id, 'the id of a transaction', 32) !== tx.txId)
    throw unusable('a node answers with another transaction');
  const receipt = readRecord(info.receipt, 'a receipt');
  const isOk = receipt.result === 'SUCCESS' && info.result === undefined;
  return {
    state: isOk ? 'included' : 'failed',
    final: false,
    height: readNumber(info.blockNumber, 'the block of a transaction'),
    time: Number(readNumber(info.blockTimeStamp, 'the time of a block') / 1_000n),
    fee: readNumber(info.fee, 'the fee of a transaction'),
    itemOk: tx.itemIds.map(() => isOk),
    ...(!isOk && { reason: reasonOf(receipt.result) }),
  };
}

function reasonOf(result: unknown): string {
  return typeof result === 'string' ? result.toLowerCase().slice(0, 100) : 'refused';
}

/**
 * The solid block that proves that a transaction is in no block and never will be: its expiration is past, and those who say that they do
 * not have it have all blocks that it could be in, from the one that it refers to.
 *
 * @returns undefined where it may still be in a block
 * @throws ChainUnavailable where the nodes cannot prove it
 */
async function proveDead({ node, feed }: Nodes, tx: SignedTx): Promise<Header | undefined> {
  const expiresAtMs = tx.validUntil?.timeMs;
  if (expiresAtMs === undefined) return undefined;
  const { final } = await feed.snapshot();
  if (final.timeMs < BigInt(expiresAtMs) + EXPIRED_MS) return undefined;
  const reference = referenceOf(tx, final);
  const method = ofView('solid', 'getblock');
  const blockCall = (height: bigint) => ({ method, params: [{ id_or_num: String(height), detail: false }] });
  const answers = await node.agreedMany([
    blockCall(reference.height),
    blockCall(final.height),
    { method: infoCall('solid'), params: [{ value: tx.txId }] },
  ]);
  const [from, upTo] = answers.slice(0, 2).map((answer) => readHeader(readResult(answer)));
  const info = readResult(answers[2]);
  if (from?.hash.slice(16, 32) !== reference.hash)
    throw cannotProve(tx, 'the nodes lack the block that it refers to');
  if (upTo?.hash !== final.hash) throw cannotProve(tx, 'the nodes lack the newest solid block');
  return isNothing(info) ? final : undefined;
}

/**
 * The block that a transaction refers to. Its bytes name the end of its number: it is the first such block from the earliest one that can be
 * so old, as blocks are 3 seconds apart or more.
 */
function referenceOf({ raw }: SignedTx, final: Header): { height: bigint; hash: string } {
  const signed = readSigned(raw);
  if (signed === undefined) throw unusable('these are no bytes of ours');
  const { refBlockBytes, refBlockHash, expiration } = signed.transaction;
  const earliest = final.height - (final.timeMs - expiration) / BLOCK_MS - REFERENCE_AGE;
  const from = earliest < 0n ? 0n : earliest;
  const end = BigInt(`0x${Buffer.from(refBlockBytes).toString('hex')}`);
  const further = (end - (from % REFERABLE) + REFERABLE) % REFERABLE;
  return { height: from + further, hash: Buffer.from(refBlockHash).toString('hex') };
}

function cannotProve({ txId }: SignedTx, why: string): ChainUnavailable {
  return new ChainUnavailable('trc20', `whether ${txId} is in a block is not known: ${why}`);
}
