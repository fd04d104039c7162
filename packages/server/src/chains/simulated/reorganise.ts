import { sql } from 'kysely';
import type { Tx } from '../../platform/db/index.ts';
import { applyChanges, BalanceChanges } from './balances.ts';
import { findNextSequence, setNextSequences } from './sequence-queries.ts';
import type { ChainId } from './tables.ts';
import { listTransfersAbove } from './transfer-queries.ts';

export interface Reorganisation {
  /** Blocks up to here stay; all above are replaced by as many empty ones. */
  keptHeight: bigint;
  /** The newest block: with `remine` it gets the payers' transfers of the replaced blocks. */
  newestHeight: bigint;
  /** Unix seconds of the newest block. */
  newestTime: number;
  remine: boolean;
  /** Transactions of payers that vanish all the same. */
  vanishing: readonly string[];
}

/**
 * Replaces the newest blocks. Our transactions in them are gone from the chain, mempool included, until they are broadcast
 * again; payers' transfers vanish or move to the newest block. The height stays.
 */
export async function reorganise(tx: Tx, id: ChainId, reorganisation: Reorganisation): Promise<void> {
  const undone = await listTransfersAbove(tx, id, reorganisation.keptHeight);
  const changes = new BalanceChanges();
  for (const transfer of undone) {
    if (transfer.origin === 'foreign' && isRemined(reorganisation, transfer.tx_id)) continue;
    if (transfer.currency === null) continue;
    changes.add(transfer.recipient, transfer.currency, -transfer.amount);
    // Balances of most payers and of the faucet are not tracked: outside wallets always have what they send.
    if (transfer.is_kept) changes.add(transfer.sender, transfer.currency, transfer.amount);
  }
  await applyChanges(tx, id, changes);
  if (reorganisation.remine) await remineForeign(tx, id, reorganisation);
  await removeTransfers(tx, id, reorganisation);
  await movePermissions(tx, id, reorganisation);
  await freeSequences(tx, id, reorganisation.keptHeight);
}

const isRemined = ({ remine, vanishing }: Reorganisation, txId: string) =>
  remine && !vanishing.includes(txId);

async function remineForeign(
  tx: Tx,
  { merchantId, network }: ChainId,
  { keptHeight, newestHeight, newestTime, vanishing }: Reorganisation,
): Promise<void> {
  await sql`
    update simchain.transfer t set height = ${newestHeight}, block_time = ${newestTime}
    from simchain.transaction x
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.height > ${keptHeight}
      and x.merchant_id = t.merchant_id and x.network = t.network and x.tx_id = t.tx_id
      and x.origin = 'foreign' and x.tx_id <> all(${vanishing}::text[])`.execute(tx);
  await sql`
    update simchain.transaction set height = ${newestHeight}
    where merchant_id = ${merchantId} and network = ${network} and height > ${keptHeight}
      and origin = 'foreign' and tx_id <> all(${vanishing}::text[])`.execute(tx);
}

/** Deletes the payers' permissions in replaced blocks, or moves them to the newest block. */
async function movePermissions(
  tx: Tx,
  { merchantId, network }: ChainId,
  { keptHeight, newestHeight, remine }: Reorganisation,
): Promise<void> {
  const replaced = sql`merchant_id = ${merchantId} and network = ${network} and height > ${keptHeight}`;
  if (remine)
    await sql`update simchain.permission set height = ${newestHeight} where ${replaced}`.execute(tx);
  else await sql`delete from simchain.permission where ${replaced}`.execute(tx);
}

/** Deletes the transfers in replaced blocks; those that `remineForeign` moved stay. */
async function removeTransfers(
  tx: Tx,
  { merchantId, network }: ChainId,
  { keptHeight, remine, vanishing }: Reorganisation,
): Promise<void> {
  await sql`
    delete from simchain.transfer t
    using simchain.transaction x
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.height > ${keptHeight}
      and x.merchant_id = t.merchant_id and x.network = t.network and x.tx_id = t.tx_id
      and (x.origin = 'wallet' or not ${remine}::boolean or x.tx_id = any(${vanishing}::text[]))`.execute(tx);
  await sql`
    delete from simchain.transaction
    where merchant_id = ${merchantId} and network = ${network} and height > ${keptHeight}
      and origin = 'foreign' and (not ${remine}::boolean or tx_id = any(${vanishing}::text[]))`.execute(tx);
}

/** Frees the sequences of the transactions in replaced blocks; the lowest of them is the next to be mined. */
async function freeSequences(tx: Tx, id: ChainId, keptHeight: bigint): Promise<void> {
  const { rows } = await sql<{ sender: string; sequence: bigint | null }>`
    update simchain.transaction set state = 'gone', height = null, item_ok = null, reason = null
    where merchant_id = ${id.merchantId} and network = ${id.network} and height > ${keptHeight}
      and origin = 'wallet'
    returning sender, sequence`.execute(tx);
  const next = new Map<string, bigint>();
  for (const { sender, sequence } of rows) {
    if (sequence === null) continue;
    const lowest = next.get(sender) ?? (await findNextSequence(tx, id, sender));
    next.set(sender, sequence < lowest ? sequence : lowest);
  }
  await setNextSequences(tx, id, next);
}
