import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { listed } from '../../platform/db/statements/index.ts';
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

const COLUMNS = sql.raw(TRANSACTION_COLUMNS.join(', '));

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

export async function findTransaction(
  db: Db,
  id: ChainId,
  txId: string,
): Promise<TransactionRow | undefined> {
  return (await findTransactions(db, id, [txId])).get(txId);
}

/** The transactions that this chain has seen, by id. */
export async function findTransactions(
  db: Db,
  { merchantId, network }: ChainId,
  txIds: readonly string[],
): Promise<Map<string, TransactionRow>> {
  const { rows } = await sql<TransactionRow>`
    select ${COLUMNS} from simchain.transaction
    where merchant_id = ${merchantId} and network = ${network} and tx_id = any(${txIds}::text[])`.execute(db);
  return new Map(rows.map((row) => [row.tx_id, row]));
}

/** The transactions, waiting or mined, that hold these sequences. */
export async function findBySequences(
  db: Db,
  { merchantId, network }: ChainId,
  wanted: readonly { sender: string; sequence: bigint }[],
): Promise<TransactionRow[]> {
  if (wanted.length === 0) return [];
  const { rows } = await sql<TransactionRow>`
    select ${COLUMNS} from ${listed('u', wanted, {
      of_sender: ['text', (one) => one.sender],
      of_sequence: ['bigint', (one) => one.sequence],
    })}
    join simchain.transaction on merchant_id = ${merchantId} and network = ${network} and sender = of_sender
      and sequence = of_sequence and state <> 'gone'`.execute(db);
  return rows;
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
  /** Set for a transaction that is in a block from the start. */
  height: bigint | null;
  /** Another transaction of the same batch has replaced it. */
  isReplaced?: boolean;
}

export async function upsertTransaction(tx: Tx, id: ChainId, arriving: ArrivingTransaction): Promise<void> {
  await upsertTransactions(tx, id, [arriving]);
}

/** Writes arriving transactions; one that was gone comes back under its id. */
export async function upsertTransactions(
  tx: Tx,
  { merchantId, network }: ChainId,
  arriving: readonly ArrivingTransaction[],
): Promise<void> {
  if (arriving.length === 0) return;
  const rows = listed('u', arriving, {
    tx_id: ['text', (one) => one.txId],
    origin: ['text', (one) => one.origin],
    state: ['text', stateOf],
    sender: ['text', (one) => one.sender],
    sequence: ['bigint', (one) => one.sequence],
    raw: ['text', (one) => one.raw],
    fee: ['bigint', (one) => one.fee],
    arrival: ['bigint', (one) => one.arrival],
    not_before: ['bigint', (one) => one.notBefore],
    height: ['bigint', (one) => one.height],
    item_ok: ['text', (one) => (one.height === null ? null : '1')],
  });
  await sql`
    insert into simchain.transaction (merchant_id, network, tx_id, origin, state, sender, sequence, raw, fee, arrival,
      not_before, height, item_ok)
    select ${merchantId}::uuid, ${network}, u.* from ${rows}
    on conflict (merchant_id, network, tx_id) do update set state = excluded.state, arrival = excluded.arrival,
      not_before = excluded.not_before, height = excluded.height, item_ok = excluded.item_ok, reason = null`.execute(
    tx,
  );
}

function stateOf({ height, isReplaced = false }: ArrivingTransaction): TransactionRow['state'] {
  if (isReplaced) return 'gone';
  return height === null ? 'mempool' : 'included';
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
  const rows = listed('u', included, {
    tx_id: ['text', (one) => one.txId],
    height: ['bigint', (one) => one.height],
    item_ok: [
      'text',
      (one) => one.itemOk.map((ok, i) => (ok ? '1' : one.paidBefore[i] ? '2' : '0')).join(''),
    ],
    reason: ['text', (one) => one.reason],
  });
  await sql`
    update simchain.transaction t
    set state = 'included', height = u.height, item_ok = u.item_ok, reason = u.reason
    from ${rows}
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.tx_id = u.tx_id`.execute(tx);
}
