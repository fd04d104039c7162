import { accountOfTron, type TronTransaction, tronOfAccount } from '@florin/signer/tron';
import { chargeIn, chargeOutcome, isPreparation } from '../collector/charge-logs.ts';
import { chargeFaultOf, isTokenRefusal } from '../collector/errors.ts';
import type { SignedTx, TxStatus } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { readTransfers } from './block-transfers.ts';
import { recipientOf } from './contract-call.ts';
import type { TronFeed } from './feed.ts';
import type { Header } from './headers.ts';
import { type TokensByAccount, tokensByAccount } from './listed-tokens.ts';
import type { TronNetwork } from './network.ts';
import { ofView, type TronNode } from './node.ts';
import {
  isNothing,
  orUnavailable,
  readHex,
  readList,
  readNumber,
  readRecord,
  unusable,
} from './node-answers.ts';
import { outcomeOf } from './outcome.ts';
import { readSigned } from './signing.ts';

/** What the bytes of a transaction name of the number of its reference block. */
const REFERABLE = 65_536n;
const BLOCK_MS = 3_000n;
const MS = 1_000n;
/** Blocks that the reference is before the expiration, at most: an hour, six times as long as any transaction is valid. */
const REFERENCE_AGE = 1_200n;

interface StatusOptions {
  node: TronNode;
  feed: TronFeed;
  network: Pick<TronNetwork, 'tokens' | 'isTest'>;
  /** Unix milliseconds. */
  nowMs: () => number;
  /** Whether a token lets nothing be moved into the merchant's wallet. */
  refusesUs: (token: string) => Promise<boolean>;
}

interface Asked {
  tx: SignedTx;
  signed: TronTransaction;
  tokens: TokensByAccount;
}

/** @throws ChainUnavailable */
export async function readStatus(options: StatusOptions, tx: SignedTx): Promise<TxStatus> {
  const { node, feed, network } = options;
  const signed = readSigned(tx.raw);
  if (signed === undefined || signed.txId !== tx.txId) throw unusable('these are no bytes of ours');
  const asked = { tx, signed: signed.transaction, tokens: tokensByAccount(options.network) };
  const { final } = await feed.snapshot();
  const known = readInfo(await orUnavailable(node.agreed(infoCall('solid'), [{ value: tx.txId }])), asked);
  if (known !== undefined) {
    if (known.height > final.height) throw unusable('a transaction is final above the final block');
    const state = known.state === 'included' ? 'final' : 'failed';
    return { ...known, ...(await blame(options, known, asked)), state, final: true };
  }
  const dead = await proveDead(feed, asked, final);
  if (dead !== undefined) return { state: 'dead', final: true, height: dead.height };
  const seen = readInfo(await orUnavailable(node.call(infoCall('head'), [{ value: tx.txId }])), asked);
  // A test network makes blocks as people ask for them.
  if (seen !== undefined && network.isTest) return seen;
  if (seen !== undefined) return { ...seen, finalAt: finalAtOf(seen, final, options.nowMs()) };
  const waiting = await orUnavailable(node.call('wallet/gettransactionfrompending', [{ value: tx.txId }]));
  if (isNothing(waiting)) return { state: 'unknown', final: false };
  if (readRecord(waiting, 'a transaction').txID !== tx.txId)
    throw unusable('a node answers with another transaction');
  return { state: 'pending', final: false };
}

const infoCall = (view: 'head' | 'solid') => ofView(view, 'gettransactioninfobyid');

/** Blocks are solid one by one, as they are made. */
function finalAtOf({ height }: Included, final: Header, nowMs: number): number {
  const blocks = height > final.height ? height - final.height : 1n;
  return Math.ceil((nowMs + Number(blocks * BLOCK_MS)) / 1_000);
}

interface Included extends TxStatus {
  state: 'included' | 'failed';
  height: bigint;
}

/** Where the token has blocked the merchant's wallet, or everybody, a charge that it has refused is no payer's fault. */
async function blame(
  { refusesUs }: StatusOptions,
  { reason }: Included,
  { signed: { contract } }: Asked,
): Promise<Pick<TxStatus, 'reason'>> {
  if (reason !== 'token_refused' || contract.kind !== 'trigger') return {};
  const charge = chargeIn(toHex(contract.data));
  return charge !== undefined && (await refusesUs(tronOfAccount(charge.token)))
    ? { reason: 'our_fault' }
    : {};
}

/** @returns undefined where the node has no such transaction in a block. @throws ChainUnavailable where it is not clear what became of it */
function readInfo(answer: unknown, asked: Asked): Included | undefined {
  if (isNothing(answer)) return undefined;
  const { tx } = asked;
  const info = readRecord(answer, 'a transaction');
  if (readHex(info.id, 'the id of a transaction', 32) !== tx.txId)
    throw unusable('a node answers with another transaction');
  const isCall = asked.signed.contract.kind === 'trigger';
  const outcome = outcomeOf(info, isCall);
  if (outcome === 'unclear' || info.blockNumber === undefined)
    throw unusable(`what became of ${tx.txId} is not clear`);
  const became =
    outcome === 'succeeded' ? whatSucceeded(info, asked) : { isOk: false, reason: reasonOf(info, asked) };
  if (became === undefined) throw unusable(`${tx.txId} succeeded and moved nothing`);
  const { isOk, ...further } = became;
  return {
    state: isOk ? 'included' : 'failed',
    final: false,
    height: readNumber(info.blockNumber, 'the block of a transaction'),
    fee: readNumber(info.fee, 'the fee of a transaction'),
    itemOk: tx.itemIds.map(() => isOk),
    ...further,
  };
}

interface Became extends Pick<TxStatus, 'reason' | 'paidBefore'> {
  isOk: boolean;
}

/** What a transaction that succeeded has done. @returns undefined where it should have moved tokens, and no log says so */
function whatSucceeded(info: Record<string, unknown>, asked: Asked): Became | undefined {
  const { contract } = asked.signed;
  if (contract.kind !== 'trigger' || isPreparation(toHex(contract.data))) return { isOk: true };
  const charge = chargeIn(toHex(contract.data));
  if (charge === undefined) return hasTransferred(info, asked) ? { isOk: true } : undefined;
  const outcome = chargeOutcome(topicsOf(info, contract.contract), charge);
  if (outcome === 'charged_before') return { isOk: false, reason: 'nothing_moved', paidBefore: [true] };
  return outcome === 'charged' ? { isOk: true } : undefined;
}

/** The topics of what that contract has logged. */
function topicsOf(info: Record<string, unknown>, contract: string): string[][] {
  const own = accountOfTron(contract).slice(2).toLowerCase();
  return readList(info.log ?? [], 'the logs of a transaction').flatMap((one) => {
    const log = readRecord(one, 'a log');
    if (readHex(log.address, 'the address of a log', 20) !== own) return [];
    return [
      readList(log.topics ?? [], 'the topics of a log').map((topic) => `0x${readHex(topic, 'a topic', 32)}`),
    ];
  });
}

/** A token may say that it succeeded and do nothing: the payment is its log. */
function hasTransferred(info: Record<string, unknown>, { signed: { contract }, tokens }: Asked): boolean {
  if (contract.kind !== 'trigger') return false;
  const asset = tokens.get(accountOfTron(contract.contract).slice(2).toLowerCase());
  const to = tronOfAccount(recipientOf(contract.data));
  return readTransfers(info, tokens).some(
    (one) => one.asset === asset && one.from === contract.owner && one.to === to,
  );
}

/** A charge that failed says why, as its payer can mend it: what the collector gave back is in the block. */
function reasonOf(info: Record<string, unknown>, { signed: { contract } }: Asked): string {
  const { contractResult } = info;
  const reverted = typeof contractResult === 'string' ? `0x${contractResult}` : undefined;
  const data = contract.kind === 'trigger' ? toHex(contract.data) : '0x';
  const time = Number(readNumber(info.blockTimeStamp, 'the time of a block') / MS);
  const isCharge = chargeIn(data) !== undefined;
  const fault = isCharge ? chargeFaultOf(reverted, data, time) : undefined;
  if (fault !== undefined) return fault;
  if (isCharge && isTokenRefusal(reverted)) return 'token_refused';
  const { result } = readRecord(info.receipt, 'a receipt');
  return String(result).toLowerCase();
}

/**
 * The solid block that proves that a transaction is in no block and never will be: its expiration is past, and it is in none of the blocks
 * that it could be in, which are read for this. A node's index of transactions is not asked: it may lack what the blocks have.
 *
 * @returns undefined where it may still be in a block
 * @throws ChainUnavailable where the nodes cannot prove it
 */
async function proveDead(feed: TronFeed, { tx, signed }: Asked, final: Header): Promise<Header | undefined> {
  if (final.timeMs < signed.expiration) return undefined;
  const reference = referenceOf(signed, final);
  const header = (await feed.finalHeaders([reference.height])).get(reference.height);
  if (header?.hash.slice(16, 32) !== reference.hash)
    throw new ChainUnavailable(
      'trc20',
      `whether ${tx.txId} is in a block is not known: the nodes lack the block that it refers to`,
    );
  // Blocks are 3 seconds apart or more, so that no later one is from before the expiration.
  const latest = header.height + (signed.expiration - header.timeMs) / BLOCK_MS + 1n;
  const last = latest < final.height ? latest : final.height;
  const end = (await feed.finalHeaders([last])).get(last);
  if (end === undefined) throw new ChainUnavailable('trc20', `the nodes lack the final block ${last}`);
  const blocks = await feed.finalIds(header, end);
  return blocks.some(({ ids }) => ids.includes(tx.txId)) ? undefined : final;
}

/**
 * The block that a transaction refers to. Its bytes name the end of its number: it is the first such block from the earliest one that can be
 * so old, as blocks are 3 seconds apart or more.
 */
function referenceOf(signed: TronTransaction, final: Header): { height: bigint; hash: string } {
  const { refBlockBytes, refBlockHash, expiration } = signed;
  const earliest = final.height - (final.timeMs - expiration) / BLOCK_MS - REFERENCE_AGE;
  const from = earliest < 0n ? 0n : earliest;
  const end = BigInt(`0x${Buffer.from(refBlockBytes).toString('hex')}`);
  const further = (end - (from % REFERABLE) + REFERABLE) % REFERABLE;
  return { height: from + further, hash: Buffer.from(refBlockHash).toString('hex') };
}

const toHex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}` as const;
