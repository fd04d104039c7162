import { type Address, type Hex, parseEventLogs } from 'viem';
import { COLLECTOR_ABI } from '../collector/abi.ts';
import type { Head, SignedTx, TxStatus } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { BatchPayout, Sweeper } from './artifacts.ts';
import { findChargeFault } from './collector-errors.ts';
import { type Content, contentOf } from './content.ts';
import { TOKEN_ABI } from './contracts.ts';
import {
  type NodeReads,
  readAddress,
  readBytes,
  readList,
  readQuantity,
  readRecord,
  toQuantity,
  unusable,
} from './node-answers.ts';
import { readSigned, type SignedContent } from './transaction.ts';

export interface ChainView {
  node: NodeReads;
  /** Its `finalHeight` is the word of the operator's own node, or else of two endpoints. */
  head: () => Promise<Head>;
  /** Whether a token lets nothing be moved into the merchant's wallet. */
  refusesUs: (token: Address) => Promise<boolean>;
}

const NOT_FINAL = { final: false } as const;

/**
 * The head first, then the receipt, then the sender's count of transactions at that head: each read can only be newer than
 * the one before, so a transaction that is mined meanwhile is never called dead.
 *
 * `final`, `failed` and `dead` are decisions, so the operator's own node says so, or else two endpoints that agree.
 *
 * @throws ChainUnavailable, also where endpoints disagree
 */
export async function readStatus(view: ChainView, tx: SignedTx): Promise<TxStatus> {
  const { node, head } = view;
  const content = readSigned(tx.raw);
  if (content === undefined || tx.sequence === undefined)
    throw new Error(`${tx.txId} is not of this network`);
  const { finalHeight } = await head();
  const receipt = await receiptOf(node, tx.txId);
  if (receipt !== undefined) return await statusInBlock({ ...view, tx, content }, receipt, finalHeight);
  if (await isPassed(view, tx, finalHeight)) {
    return { state: 'dead', final: true, height: finalHeight, itemOk: tx.itemIds.map(() => false) };
  }
  return { state: (await isPending(node, tx.txId)) ? 'pending' : 'unknown', ...NOT_FINAL };
}

async function receiptOf(node: NodeReads, txId: string): Promise<Receipt | undefined> {
  return readReceipt(await node.call('eth_getTransactionReceipt', [txId]), txId);
}

/** As `receiptOf`, by the operator's own node or by two endpoints. */
async function agreedReceipt(node: NodeReads, txId: string): Promise<Receipt | undefined> {
  return readReceipt(await node.agreed('eth_getTransactionReceipt', [txId]), txId);
}

interface Mined extends Pick<ChainView, 'node' | 'refusesUs'> {
  tx: SignedTx;
  content: SignedContent;
}

async function statusInBlock(mined: Mined, seen: Receipt, finalHeight: bigint): Promise<TxStatus> {
  const { node, tx, content } = mined;
  // Only a final block decides, and for that one endpoint that is not the operator's own does not suffice.
  const receipt = seen.height > finalHeight ? seen : await agreedReceipt(node, tx.txId);
  if (receipt === undefined) throw disagreement(`that ${tx.txId} is in a block`);
  // A reorganisation between the reads may have moved it above the final height.
  const isFinal = receipt.height <= finalHeight;
  return await withChargeFault(mined, describe(tx, content, receipt, isFinal));
}

/**
 * A charge that failed says why, as its payer can mend it. Where the token has blocked the merchant's wallet, or everybody, that is no
 * payer's fault.
 */
async function withChargeFault(
  { node, tx: { sender }, content, refusesUs }: Mined,
  status: TxStatus,
): Promise<TxStatus> {
  const { reason, height } = status;
  const of = contentOf(content);
  if (reason !== 'reverted' || height === undefined || of.kind !== 'charge') return status;
  const fault = (await findChargeFault(node, content, { sender, height })) ?? reason;
  const isOurs = fault === 'token_refused' && status.final && (await refusesUs(of.token));
  return { ...status, reason: isOurs ? 'our_fault' : fault };
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
async function isPassed(
  { node, head }: Pick<ChainView, 'node' | 'head'>,
  tx: SignedTx,
  finalHeight: bigint,
): Promise<boolean> {
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

/** What a receipt says of a transaction of ours. */
interface Receipt {
  height: bigint;
  blockHash: Hex;
  /** False: it reverted. Its sequence is used up and nothing has moved. */
  hasSucceeded: boolean;
  gasUsed: bigint;
  /** Native coin spent. */
  fee: bigint;
  logs: readonly Log[];
}

interface Log {
  address: Address;
  topics: Hex[];
  data: Hex;
}

/**
 * Reads `eth_getTransactionReceipt`.
 *
 * @returns undefined for null: the node knows no such transaction in a block
 * @throws ChainUnavailable for anything else than a receipt of that transaction
 */
function readReceipt(answer: unknown, txId: string): Receipt | undefined {
  if (answer === null) return undefined;
  const receipt = readRecord(answer, 'receipt');
  if (readBytes(receipt.transactionHash, 'transactionHash') !== txId) {
    throw unusable('the receipt of another transaction');
  }
  const status = readQuantity(receipt.status, 'status');
  const gasUsed = readQuantity(receipt.gasUsed, 'gasUsed');
  return {
    height: readQuantity(receipt.blockNumber, 'blockNumber'),
    blockHash: readBytes(receipt.blockHash, 'blockHash'),
    hasSucceeded: status === 1n,
    gasUsed,
    fee: gasUsed * readQuantity(receipt.effectiveGasPrice, 'effectiveGasPrice'),
    logs: readList(receipt.logs, 'logs').map(readLog),
  };
}

function readLog(value: unknown): Log {
  const log = readRecord(value, 'log');
  return {
    address: readAddress(log.address, 'address'),
    topics: readList(log.topics, 'topics').map((topic) => readBytes(topic, 'topic')),
    data: readBytes(log.data, 'data'),
  };
}

/** What became of each item, in the order of the bytes. */
export type ItemOutcomes = Pick<Required<TxStatus>, 'itemOk'> & Pick<TxStatus, 'paidBefore'>;

/**
 * By events of the contract that the bytes call, and of the token: never by what a call returned. An item without an event
 * was not paid.
 */
function itemOutcomes(content: Content, sender: Address, receipt: Receipt): ItemOutcomes {
  switch (content.kind) {
    case 'batch':
      return batchOutcomes(content, sender, receipt.logs);
    case 'sweep':
      return { itemOk: sweepOutcomes(content, receipt.logs) };
    case 'transfer':
      return { itemOk: [hasTransferred(content, sender, receipt.logs)] };
    case 'charge':
      return chargeOutcome(content, receipt.logs);
    case 'movement':
      return { itemOk: [] };
  }
}

function batchOutcomes(
  { contract, group, places }: Extract<Content, { kind: 'batch' }>,
  sender: Address,
  logs: readonly Log[],
): ItemOutcomes {
  const paid = new Set<bigint>();
  const before = new Set<bigint>();
  for (const { eventName, args } of eventsOf(BatchPayout.abi, contract, logs)) {
    if (args.from !== sender || args.group !== group) continue;
    if (eventName === 'PaidBefore') before.add(args.index);
    else if (args.ok) paid.add(args.index);
  }
  const itemOk = places.map((place) => paid.has(place) || before.has(place));
  return before.size === 0
    ? { itemOk }
    : { itemOk, paidBefore: places.map((place) => before.has(place) && !paid.has(place)) };
}

/** Its events come in the order of the calls; an address may be swept of two assets. */
function sweepOutcomes(
  { contract, sweeps }: Extract<Content, { kind: 'sweep' }>,
  logs: readonly Log[],
): boolean[] {
  const moved = new Set(
    eventsOf(Sweeper.abi, contract, logs)
      .filter(({ args }) => args.ok)
      .map(({ args }) => `${args.from} ${args.token} ${args.amount}`),
  );
  return sweeps.map(({ from, token, amount }) => moved.has(`${from} ${token} ${amount}`));
}

function chargeOutcome(
  { contract, account, id }: Extract<Content, { kind: 'charge' }>,
  logs: readonly Log[],
): ItemOutcomes {
  const own = eventsOf(COLLECTOR_ABI, contract, logs).filter(
    ({ args }) => args.account === account && args.id === id,
  );
  const names = own.map(({ eventName }) => eventName);
  const itemOk = [names.includes('Charged')];
  return names.includes('ChargedBefore') ? { itemOk, paidBefore: [true] } : { itemOk };
}

/** A token that takes a fee reports less than was sent. */
function hasTransferred(
  { token, to, amount }: Extract<Content, { kind: 'transfer' }>,
  sender: Address,
  logs: readonly Log[],
): boolean {
  return eventsOf(TOKEN_ABI, token, logs).some(
    ({ args }) => args.from === sender && args.to === to && args.value > 0n && args.value <= amount,
  );
}

function eventsOf<
  const abi extends typeof BatchPayout.abi | typeof Sweeper.abi | typeof TOKEN_ABI | typeof COLLECTOR_ABI,
>(abi: abi, contract: Address, logs: readonly Log[]) {
  const own = logs.filter(({ address }) => address === contract);
  return parseEventLogs({ abi, logs: own.map(toRpcLog) });
}

/** The fields of a log that decoding looks at, in the form that viem wants. */
function toRpcLog({ address, topics, data }: Log) {
  const [signature, ...indexed] = topics;
  const named: [Hex, ...Hex[]] | [] = signature === undefined ? [] : [signature, ...indexed];
  return {
    address,
    data,
    topics: named,
    blockHash: null,
    blockNumber: null,
    logIndex: null,
    transactionHash: null,
    transactionIndex: null,
    removed: false,
  } as const;
}
