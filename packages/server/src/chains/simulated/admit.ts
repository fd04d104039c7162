import type { Tx } from '../../platform/db.ts';
import type { Broadcast, SignedTx } from '../port.ts';
import type { BlockClock } from './block-clock.ts';
import { type ChainRow, updateChain } from './chain-queries.ts';
import { readBody, type TransferBody } from './envelope.ts';
import { isExpired } from './execute.ts';
import { findNextSequence, noteStuckItems } from './sequence-queries.ts';
import type { ChainId } from './tables.ts';
import { STUCK_SECONDS, testAddresses } from './test-addresses.ts';
import { findBySequence, findTransaction, markGone, upsertTransaction } from './transaction-queries.ts';

/** A replacement pays at least an eighth more than what it replaces. */
const REPLACEMENT_NUMERATOR = 9n;
const REPLACEMENT_DENOMINATOR = 8n;

/** What an honest node does with good bytes: takes them into the mempool, knows them, or refuses them. */
export async function admit(
  tx: Tx,
  id: ChainId,
  signed: SignedTx,
  { row, clock }: { row: ChainRow; clock: BlockClock },
): Promise<Broadcast> {
  const known = await findTransaction(tx, id, signed.txId);
  if (known !== undefined && known.state !== 'gone') return { result: 'known' };
  const body = readBody(signed.raw);
  if (isExpired(body, clock.height + 1n, clock.now)) {
    const code = body.lastValidHeight === undefined ? 'transaction_expired' : 'blockhash_not_found';
    return { result: 'rejected', code, retryable: false };
  }
  const refusal = body.sequence === undefined ? undefined : await claimSequence(tx, id, body);
  if (refusal !== undefined) return refusal;
  await upsertTransaction(tx, id, {
    txId: signed.txId,
    origin: 'wallet',
    sender: body.sender,
    sequence: body.sequence === undefined ? null : BigInt(body.sequence),
    raw: signed.raw,
    fee: BigInt(body.fee),
    arrival: row.next_arrival,
    notBefore: await findNotBefore(tx, id, body, clock.now),
    height: null,
  });
  await updateChain(tx, id, { next_arrival: row.next_arrival + 1n });
  return { result: 'accepted' };
}

/** A sequence is free, or held by a waiting transaction that pays clearly less, or refused. */
async function claimSequence(tx: Tx, id: ChainId, body: TransferBody): Promise<Broadcast | undefined> {
  const sequence = BigInt(body.sequence ?? '0');
  const holder = await findBySequence(tx, id, body.sender, sequence);
  const isUsed = sequence < (await findNextSequence(tx, id, body.sender)) || holder?.state === 'included';
  if (isUsed) return { result: 'rejected', code: 'nonce_too_low', retryable: false };
  if (holder === undefined) return undefined;
  if (BigInt(body.fee) * REPLACEMENT_DENOMINATOR < holder.fee * REPLACEMENT_NUMERATOR) {
    return { result: 'rejected', code: 'replacement_underpriced', retryable: true };
  }
  await markGone(tx, id, [holder.tx_id]);
  return undefined;
}

/** 0 for ordinary transactions; for one that pays `stuck`, an hour after its item was first seen here. */
async function findNotBefore(tx: Tx, id: ChainId, body: TransferBody, now: number): Promise<number> {
  const { stuck } = testAddresses(id.network);
  const ids = body.items.filter((item) => item.to === stuck).map((item) => item.id);
  if (ids.length === 0) return 0;
  const firstSeen = await noteStuckItems(tx, id, body.sender, { ids, now });
  return Math.max(...firstSeen) + STUCK_SECONDS;
}
