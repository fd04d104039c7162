import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { KeyRef } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { TRANSFER_MOVES } from '../states.ts';
import '../tables.ts';

interface NetworkToken {
  merchantId: string;
  network: Network;
  currency: Asset;
}

/**
 * Sum of the transfers out of a deposit address that its balance at block `height` does not show yet: open ones, ones
 * decided in a later block, and ones that a reorganisation took and that are sent again.
 */
export async function sumPendingFromDeposit(
  db: Db,
  { merchantId, network, currency }: NetworkToken,
  { keyRef, height }: { keyRef: KeyRef; height: bigint },
): Promise<bigint> {
  const { rows } = await sql<{ total: string }>`
    select coalesce(sum(t.amount), 0)::text as total from transfer t
    left join transfer_attempt a on a.merchant_id = t.merchant_id and a.network = t.network and a.tx_id = t.tx_id
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.key_ref <> 'hot' and t.key_ref = ${keyRef}
      and t.currency = ${currency}
      and (t.status in ('queued', 'sending')
        or t.status = 'succeeded' and t.lost_at is null and (a.height > ${height} or a.gone_at is not null))`.execute(
    db,
  );
  return BigInt(rows[0]?.total ?? 0);
}

/** Transfers out of deposit addresses that have no transaction yet. */
export interface QueuedTransfer {
  transferId: string;
  ownerId: string;
  currency: Asset;
  keyRef: KeyRef;
  amount: bigint;
}

export async function listQueuedFromDeposits(
  db: Db,
  { merchantId, network }: Omit<NetworkToken, 'currency'>,
): Promise<QueuedTransfer[]> {
  const { rows } = await sql<QueuedTransfer>`
    select transfer_id as "transferId", owner_id as "ownerId", currency, key_ref as "keyRef", amount from transfer
    where merchant_id = ${merchantId} and network = ${network} and key_ref <> 'hot' and status = 'queued'
    order by transfer_id`.execute(db);
  return rows;
}

const CANCEL = TRANSFER_MOVES.move('queued', 'failed');

/** Fails transfers that have no transaction yet. @returns the owners of the failed ones */
export async function cancelQueued(
  tx: Tx,
  merchantId: string,
  transferIds: readonly string[],
  { message, nowSeconds }: { message: string; nowSeconds: number },
): Promise<string[]> {
  const { rows } = await sql<{ owner_id: string }>`
    update transfer set status = ${CANCEL.to}, failure_code = 'transfer_failed', failure_message = ${message},
      completed_at = ${nowSeconds}
    where merchant_id = ${merchantId} and transfer_id = any(${transferIds}::uuid[]) and status = ${CANCEL.from}
    returning owner_id`.execute(tx);
  return rows.map((row) => row.owner_id);
}
