import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db.ts';
import type { IncludedTx } from './execute.ts';
import type { ChainId } from './tables.ts';

export interface TransactionRow {
  tx_id: string;
  origin: 'wallet' | 'foreign';
  state: 'mempool' | 'included' | 'gone';
  sender: string;
  sequence: bigint | null;
  raw: string | null;
  fee: bigint;
  height: bigint | null;
  item_ok: string | null;
  reason: string | null;
  not_before: bigint;
}

const TRANSACTION_COLUMNS = [
  'tx_id',
  'origin',
  'state',
  'sender',
  'sequence',
  'raw',
  'fee',
  'height',
  'item_ok',
  'reason',
  'not_before',
] as const;

export function listMempool(tx: Tx, { merchantId, network }: ChainId): Promise<TransactionRow[]> {
  return tx
    .selectFrom('simchain.transaction')
    .select(TRANSACTION_COLUMNS)
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('state', '=', 'mempool')
    .orderBy('arrival')
    .execute();
}

export function findTransaction(
  db: Db,
  { merchantId, network }: ChainId,
  txId: string,
): Promise<TransactionRow | undefined> {
  return db
    .selectFrom('simchain.transaction')
    .select(TRANSACTION_COLUMNS)
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('tx_id', '=', txId)
    .executeTakeFirst();
}

/** The transaction, waiting or mined, that holds that sequence of the sender. */
export function findBySequence(
  db: Db,
  { merchantId, network }: ChainId,
  sender: string,
  sequence: bigint,
): Promise<TransactionRow | undefined> {
  return db
    .selectFrom('simchain.transaction')
    .select(TRANSACTION_COLUMNS)
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('sender', '=', sender)
    .where('sequence', '=', sequence)
    .where('state', '!=', 'gone')
    .executeTakeFirst();
}

export interface ArrivingTransaction {
  txId: string;
  origin: 'wallet' | 'foreign';
  sender: string;
  sequence: bigint | null;
  raw: string | null;
  fee: bigint;
  arrival: bigint;
  notBefore: number;
  /** Set for one that is in a block from the start. */
  height: bigint | null;
}

/** Writes a transaction that came in; one that was gone comes back under its id. */
export async function upsertTransaction(
  tx: Tx,
  { merchantId, network }: ChainId,
  arriving: ArrivingTransaction,
): Promise<void> {
  const place = {
    state: arriving.height === null ? ('mempool' as const) : ('included' as const),
    arrival: arriving.arrival,
    not_before: arriving.notBefore,
    height: arriving.height,
    item_ok: arriving.height === null ? null : '1',
    reason: null,
  };
  await tx
    .insertInto('simchain.transaction')
    .values({
      merchant_id: merchantId,
      network,
      tx_id: arriving.txId,
      origin: arriving.origin,
      sender: arriving.sender,
      sequence: arriving.sequence,
      raw: arriving.raw,
      fee: arriving.fee,
      ...place,
    })
    .onConflict((conflict) => conflict.columns(['merchant_id', 'network', 'tx_id']).doUpdateSet(place))
    .execute();
}

export async function markGone(tx: Tx, { merchantId, network }: ChainId, txIds: string[]): Promise<void> {
  if (txIds.length === 0) return;
  await sql`
    update simchain.transaction set state = 'gone'
    where merchant_id = ${merchantId} and network = ${network} and tx_id = any(${txIds}::text[])`.execute(tx);
}

export async function markIncluded(
  tx: Tx,
  { merchantId, network }: ChainId,
  included: IncludedTx[],
): Promise<void> {
  if (included.length === 0) return;
  const itemOk = included.map((one) => one.itemOk.map((ok) => (ok ? '1' : '0')).join(''));
  await sql`
    update simchain.transaction t
    set state = 'included', height = u.height, item_ok = u.item_ok, reason = u.reason
    from unnest(${included.map((one) => one.txId)}::text[], ${included.map((one) => one.height)}::int8[],
      ${itemOk}::text[], ${included.map((one) => one.reason)}::text[]) as u (tx_id, height, item_ok, reason)
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.tx_id = u.tx_id`.execute(tx);
}
