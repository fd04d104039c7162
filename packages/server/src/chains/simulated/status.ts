import type { Db } from '../../platform/db/index.ts';
import type { SignedTx, TxStatus } from '../port/port.ts';
import type { BlockClock } from './block-clock.ts';
import { readBody } from './envelope.ts';
import { NETWORK_RULES } from './rules.ts';
import type { ChainId } from './tables.ts';
import { findBySequences, type TransactionRow } from './transaction-queries.ts';

/** The status of a transaction, by the rules of the imitated network. `row`: the chain's own record of it. */
export async function readStatus(
  db: Db,
  id: ChainId,
  { signed, row }: { signed: SignedTx; row: TransactionRow | undefined },
  clock: BlockClock,
): Promise<TxStatus> {
  const height = row?.height ?? null;
  if (row !== undefined && height !== null && height <= clock.height) {
    return statusInBlock(id, row, height, clock);
  }
  const isHeld = row !== undefined && row.state !== 'gone';
  const reason =
    findExpiry(signed, clock) ?? (isHeld ? undefined : await findSequenceWinner(db, id, signed, clock));
  if (reason !== undefined) return { state: 'dead', final: true, height: clock.finalHeight, reason };
  // A block that the node has not seen yet leaves the transaction in its mempool.
  return { state: isHeld ? 'pending' : 'unknown', final: false };
}

function statusInBlock(id: ChainId, row: TransactionRow, height: bigint, clock: BlockClock): TxStatus {
  const final = height <= clock.finalHeight;
  const digits = [...(row.item_ok ?? '')];
  const itemOk = digits.map((digit) => digit === '1');
  const paidBefore = digits.map((digit) => digit === '2');
  // A batch contract records failed items, and items that were paid before, and goes on; a transfer of one item, a charge, or
  // an atomic transaction fails as a whole.
  const isBatch = itemOk.length > 1 || (paidBefore.includes(true) && !isCharge(row));
  const goesOn = NETWORK_RULES[id.network].capabilities.partialBatch && isBatch;
  const failed = !goesOn && itemOk.includes(false);
  return {
    state: failed ? 'failed' : final ? 'final' : 'included',
    final,
    height,
    ...(final ? {} : { finalAt: clock.finalAt(height) }),
    fee: row.fee,
    itemOk,
    ...(paidBefore.includes(true) ? { paidBefore } : {}),
    ...(row.reason === null ? {} : { reason: row.reason }),
  };
}

const isCharge = ({ raw }: TransactionRow) => raw !== null && readBody(raw).charge !== undefined;

/** Why the transaction is too late for every future block. Only final blocks prove it. */
function findExpiry(signed: SignedTx, clock: BlockClock): string | undefined {
  const { height, timeMs } = signed.validUntil ?? {};
  if (timeMs !== undefined && clock.finalTime * 1000 >= timeMs) return 'expired before the final block';
  if (height !== undefined && clock.finalHeight > BigInt(height)) return 'last valid height is final';
  return undefined;
}

/** Whether another transaction has finally used its sequence; one in the mempool is the only holder of its sequence. */
async function findSequenceWinner(
  db: Db,
  id: ChainId,
  signed: SignedTx,
  clock: BlockClock,
): Promise<string | undefined> {
  if (signed.sequence === undefined) return undefined;
  const slot = { sender: signed.sender, sequence: BigInt(signed.sequence) };
  const [holder] = await findBySequences(db, id, [slot]);
  const isFinal = holder?.height != null && holder.height <= clock.finalHeight;
  return isFinal && holder.tx_id !== signed.txId ? `sequence used by ${holder.tx_id}` : undefined;
}
