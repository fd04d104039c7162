import type { Tx } from '../../platform/db/index.ts';
import type { Broadcast, SignedTx } from '../port/port.ts';
import type { BlockClock } from './block-clock.ts';
import { readBody, type TransferBody } from './envelope.ts';
import { isExpired, sequenceKey } from './execute.ts';
import { replacementFee } from './rules.ts';
import { findNextSequences, recordStuckItems } from './sequence-queries.ts';
import type { ChainId } from './tables.ts';
import { STUCK_SECONDS, testAddresses } from './test-addresses.ts';
import {
  type ArrivingTransaction,
  findBySequences,
  findTransactions,
  markGone,
  upsertTransactions,
} from './transaction-queries.ts';

interface Candidate {
  signed: SignedTx;
  body: TransferBody;
}

/** The part of a node's state that these candidates may conflict with; updated as they are accepted. */
interface Mempool {
  /** Ids of known transactions that are not gone. */
  known: Set<string>;
  /** Sender → lowest sequence not used. */
  nextSequence: ReadonlyMap<string, bigint>;
  /** `sequenceKey` → the transaction that holds it. */
  holders: Map<string, Holder>;
  arriving: Map<string, ArrivingTransaction>;
  replaced: string[];
  nextArrival: bigint;
}

interface Holder {
  txId: string;
  fee: bigint;
  isIncluded: boolean;
}

/**
 * Admits valid transactions to the mempool as an honest node does, one after the other: each is accepted, known already, or
 * rejected.
 *
 * @param nextArrival the arrival number of the first one that is accepted
 * @returns the answer to each, and the next arrival number
 */
export async function admit(
  tx: Tx,
  id: ChainId,
  list: readonly SignedTx[],
  { nextArrival, clock }: { nextArrival: bigint; clock: BlockClock },
): Promise<{ answers: Broadcast[]; nextArrival: bigint }> {
  const candidates = list.map((signed) => ({ signed, body: readBody(signed.raw) }));
  const pool = await loadMempool(tx, id, candidates, nextArrival);
  const answers: Broadcast[] = [];
  for (const candidate of candidates) answers.push(await admitOne(tx, id, candidate, { pool, clock }));
  await markGone(tx, id, pool.replaced);
  await upsertTransactions(tx, id, [...pool.arriving.values()]);
  return { answers, nextArrival: pool.nextArrival };
}

async function loadMempool(
  tx: Tx,
  id: ChainId,
  candidates: readonly Candidate[],
  nextArrival: bigint,
): Promise<Mempool> {
  const found = await findTransactions(
    tx,
    id,
    candidates.map(({ signed }) => signed.txId),
  );
  const known = new Set([...found.values()].filter((row) => row.state !== 'gone').map((row) => row.tx_id));
  const sequenced = candidates.flatMap(({ signed, body: { sender, sequence } }) =>
    sequence === undefined || known.has(signed.txId) ? [] : [{ sender, sequence: BigInt(sequence) }],
  );
  const rows = await findBySequences(tx, id, sequenced);
  const holders = rows.map((row): [string, Holder] => [
    sequenceKey(row.sender, row.sequence ?? 0n),
    { txId: row.tx_id, fee: row.fee, isIncluded: row.state === 'included' },
  ]);
  const senders = new Set(sequenced.map(({ sender }) => sender));
  return {
    known,
    nextSequence: await findNextSequences(tx, id, [...senders]),
    holders: new Map(holders),
    arriving: new Map(),
    replaced: [],
    nextArrival,
  };
}

async function admitOne(
  tx: Tx,
  id: ChainId,
  { signed, body }: Candidate,
  { pool, clock }: { pool: Mempool; clock: BlockClock },
): Promise<Broadcast> {
  if (pool.known.has(signed.txId)) return { result: 'known' };
  if (isExpired(body, clock.height + 1n, clock.now)) {
    const code = body.lastValidHeight === undefined ? 'transaction_expired' : 'blockhash_not_found';
    return { result: 'rejected', code, retryable: false };
  }
  const refusal = body.sequence === undefined ? undefined : claimSequence(pool, signed.txId, body);
  if (refusal !== undefined) return refusal;
  const notBefore = await findNotBefore(tx, id, body, clock.now);
  pool.known.add(signed.txId);
  pool.arriving.set(signed.txId, {
    txId: signed.txId,
    origin: 'wallet',
    sender: body.sender,
    sequence: body.sequence === undefined ? null : BigInt(body.sequence),
    raw: signed.raw,
    fee: BigInt(body.fee),
    arrival: pool.nextArrival,
    notBefore,
    height: null,
  });
  pool.nextArrival += 1n;
  // The next block includes it, if no sequence before it is missing.
  return { result: 'accepted', ...(notBefore > 0 ? {} : { finalAt: clock.finalAt(clock.height + 1n) }) };
}

/** Claims a sequence that is free or held by a waiting transaction with a clearly lower fee; rejects it otherwise. */
function claimSequence(pool: Mempool, txId: string, body: TransferBody): Broadcast | undefined {
  const sequence = BigInt(body.sequence ?? '0');
  const key = sequenceKey(body.sender, sequence);
  const holder = pool.holders.get(key);
  const isUsed = sequence < (pool.nextSequence.get(body.sender) ?? 0n) || holder?.isIncluded === true;
  if (isUsed) return { result: 'rejected', code: 'nonce_too_low', retryable: false };
  const fee = BigInt(body.fee);
  if (holder !== undefined) {
    if (fee < replacementFee(holder.fee)) {
      return { result: 'rejected', code: 'replacement_underpriced', retryable: true };
    }
    replace(pool, holder.txId);
  }
  pool.holders.set(key, { txId, fee, isIncluded: false });
  return undefined;
}

/** Removes a transaction of these candidates or of the mempool. */
function replace(pool: Mempool, txId: string): void {
  pool.known.delete(txId);
  const arriving = pool.arriving.get(txId);
  if (arriving === undefined) pool.replaced.push(txId);
  else pool.arriving.set(txId, { ...arriving, isReplaced: true });
}

/** 0 for ordinary transactions; for a payment to `stuck` an hour after its item was first seen. */
async function findNotBefore(tx: Tx, id: ChainId, body: TransferBody, now: number): Promise<number> {
  const { stuck } = testAddresses(id.network);
  const ids = body.items.filter((item) => item.to === stuck).map((item) => item.id);
  if (ids.length === 0) return 0;
  const firstSeen = await recordStuckItems(tx, id, body.sender, { ids, now });
  return Math.max(...firstSeen) + STUCK_SECONDS;
}
