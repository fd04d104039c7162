import type { Head, SignedTx, TxStatus } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { findChargeFault } from './collector-errors.ts';
import { contentOf } from './content.ts';
import { type NodeReads, readQuantity, readRecord, toQuantity } from './node-answers.ts';
import { itemOutcomes, type Receipt, readReceipt } from './receipt.ts';
import { readSigned, type SignedContent } from './transaction.ts';

export interface ChainView {
  node: NodeReads;
  /** Its `finalHeight` is one that two endpoints agree on. */
  head: () => Promise<Head>;
}

const NOT_FINAL = { final: false } as const;

/**
 * The head first, then the receipt, then the sender's count of transactions at that head: each read can only be newer than
 * the one before, so a transaction that is mined meanwhile is never called dead.
 *
 * `final`, `failed` and `dead` are decisions, so two endpoints must agree on them.
 *
 * @throws ChainUnavailable, also where endpoints disagree
 */
export async function readStatus({ node, head }: ChainView, tx: SignedTx): Promise<TxStatus> {
  const content = readSigned(tx.raw);
  if (content === undefined || tx.sequence === undefined)
    throw new Error(`${tx.txId} is not of this network`);
  const { finalHeight } = await head();
  const receipt = await receiptOf(node, tx.txId);
  if (receipt !== undefined) return await statusInBlock({ node, tx, content }, receipt, finalHeight);
  if (await isPassed({ node, head }, tx, finalHeight)) {
    return { state: 'dead', final: true, height: finalHeight, itemOk: tx.itemIds.map(() => false) };
  }
  return { state: (await isPending(node, tx.txId)) ? 'pending' : 'unknown', ...NOT_FINAL };
}

async function receiptOf(node: NodeReads, txId: string): Promise<Receipt | undefined> {
  return readReceipt(await node.call('eth_getTransactionReceipt', [txId]), txId);
}

/** As `receiptOf`, by two endpoints. */
async function agreedReceipt(node: NodeReads, txId: string): Promise<Receipt | undefined> {
  return readReceipt(await node.agreed('eth_getTransactionReceipt', [txId]), txId);
}

interface Mined {
  node: NodeReads;
  tx: SignedTx;
  content: SignedContent;
}

async function statusInBlock(
  { node, tx, content }: Mined,
  seen: Receipt,
  finalHeight: bigint,
): Promise<TxStatus> {
  // Only a final block decides, and for that two endpoints have to agree.
  const receipt = seen.height > finalHeight ? seen : await agreedReceipt(node, tx.txId);
  if (receipt === undefined) throw disagreement(`that ${tx.txId} is in a block`);
  // A reorganisation between the reads may have moved it above the final height.
  const isFinal = receipt.height <= finalHeight;
  return await withChargeFault(node, content, describe(tx, content, receipt, isFinal), tx);
}

/** A charge that failed says why, as its payer can mend it. */
async function withChargeFault(
  node: NodeReads,
  content: SignedContent,
  status: TxStatus,
  { sender }: Pick<SignedTx, 'sender'>,
): Promise<TxStatus> {
  const { reason, height } = status;
  if (reason !== 'reverted' || height === undefined || contentOf(content).kind !== 'charge') return status;
  return { ...status, reason: (await findChargeFault(node, content, { sender, height })) ?? reason };
}

function describe(tx: SignedTx, content: SignedContent, receipt: Receipt, final: boolean): TxStatus {
  const { height, fee, hasSucceeded, gasUsed } = receipt;
  const of = contentOf(content);
  const sender = tx.sender;
  const outcomes = hasSucceeded
    ? itemOutcomes(of, `0x${sender.slice(2)}`, receipt)
    : { itemOk: tx.itemIds.map(() => false) };
  const base = { final, height, fee, ...outcomes };
  if (!hasSucceeded) {
    return { state: 'failed', ...base, reason: gasUsed >= content.gas ? 'out_of_gas' : 'reverted' };
  }
  if (of.kind !== 'movement' && !outcomes.itemOk.includes(true)) {
    return { state: 'failed', ...base, reason: 'nothing_moved' };
  }
  return { state: final ? 'final' : 'included', ...base };
}

/**
 * Whether another transaction has used its sequence in a final block. Two endpoints that have that block say so, and before
 * and after it two have no receipt: one that lags behind finality would have to lag at both of them, twice.
 */
async function isPassed({ node, head }: ChainView, tx: SignedTx, finalHeight: bigint): Promise<boolean> {
  const sequence = BigInt(tx.sequence ?? 0);
  // First at the tip: nodes have dropped states older than 128 blocks, and what is open at the tip was open in the final block.
  if ((await countOf(node, 'call', tx.sender, 'latest')) <= sequence) return false;
  if ((await countOf(node, 'agreed', tx.sender, toQuantity(finalHeight))) <= sequence) return false;
  if ((await agreedReceipt(node, tx.txId)) !== undefined) throw disagreement(`whether ${tx.txId} is mined`);
  // A node that was restored to an earlier block between the reads proves nothing.
  if ((await head()).finalHeight < finalHeight) throw disagreement('which blocks are final');
  return true;
}

async function countOf(
  node: NodeReads,
  by: 'call' | 'agreed',
  ...at: [sender: string, block: string]
): Promise<bigint> {
  return readQuantity(await node[by]('eth_getTransactionCount', at), 'eth_getTransactionCount');
}

/** In a node's mempool, or in a block whose receipt it does not give yet. */
async function isPending(node: NodeReads, txId: string): Promise<boolean> {
  const answer = await node.call('eth_getTransactionByHash', [txId]);
  return answer !== null && readRecord(answer, 'transaction').hash === txId;
}

function disagreement(what: string): ChainUnavailable {
  return new ChainUnavailable('erc20', `the nodes do not agree ${what}`);
}
