import type { Asset } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { listed } from '../../platform/db/statements/index.ts';
import type { Movement } from './execute.ts';
import { NETWORK_RULES } from './rules.ts';
import type { ChainId } from './tables.ts';

export interface TransferInsert extends Omit<Movement, 'itemId' | 'batchId' | 'place' | 'asset'> {
  /** Null for a movement that is no item of ours: a payer's, the faucet's. */
  itemId: string | null;
  batchId: string | null;
  place: number | null;
  /** Null for a token that is not listed; then `token` names it. */
  asset: Asset | null;
  token?: string;
  fromAccount?: boolean;
  /** Unix seconds of its block. */
  time: number;
}

export async function insertTransfers(
  tx: Tx,
  { merchantId, network }: ChainId,
  transfers: TransferInsert[],
  firstNumber: bigint,
): Promise<void> {
  if (transfers.length === 0) return;
  const added = listed('u', transfers, {
    number: ['bigint', (_t, i) => firstNumber + BigInt(i)],
    tx_id: ['text', (t) => t.txId],
    index: ['integer', (t) => t.index],
    item_id: ['text', (t) => t.itemId],
    batch_id: ['text', (t) => t.batchId],
    place: ['integer', (t) => t.place],
    currency: ['text', (t) => t.asset],
    token: ['text', (t) => t.token ?? null],
    sender: ['text', (t) => t.sender],
    recipient: ['text', (t) => t.recipient],
    amount: ['bigint', (t) => t.amount],
    height: ['bigint', (t) => t.height],
    block_time: ['bigint', (t) => t.time],
    mandate_id: ['text', (t) => t.charge?.mandateId ?? null],
    subscription_id: ['text', (t) => t.charge?.subscriptionId ?? null],
    window_start: ['bigint', (t) => t.charge?.windowStart ?? null],
    window_end: ['bigint', (t) => t.charge?.windowEnd ?? null],
    from_account: ['boolean', (t) => t.fromAccount ?? false],
  });
  await sql`
    insert into simchain.transfer (merchant_id, network, number, tx_id, index, item_id, batch_id, place, currency, token, sender,
      recipient, amount, height, block_time, mandate_id, subscription_id, window_start, window_end, from_account)
    select ${merchantId}::uuid, ${network}, u.* from ${added}`.execute(tx);
}

/** A place of a batch, which its sender pays once. */
export interface BatchPlace {
  sender: string;
  batchId: string;
  place: number;
}

/** The places that their senders have paid before, as far as a contract keeps them: see `isOnce` of `execute.ts`. */
export async function findPaidPlaces(
  tx: Tx,
  { merchantId, network }: ChainId,
  places: readonly BatchPlace[],
): Promise<BatchPlace[]> {
  const wanted = listed('u', places, {
    sender: ['text', (one) => one.sender],
    batch_id: ['text', (one) => one.batchId],
    place: ['integer', (one) => one.place],
  });
  const { windowCap } = NETWORK_RULES[network].capabilities;
  const { rows } = await sql<BatchPlace>`
    select t.sender, t.batch_id as "batchId", t.place
    from ${wanted}
    join simchain.transfer t on t.merchant_id = ${merchantId} and t.network = ${network}
      and t.sender = u.sender and t.batch_id = u.batch_id and t.place = u.place
      and (t.network = 'erc20' or t.mandate_id is not null and ${windowCap}::boolean)`.execute(tx);
  return rows;
}

export interface TransferRow {
  number: bigint;
  tx_id: string;
  index: number;
  /** Null for a token that is not listed. */
  currency: Asset | null;
  sender: string;
  recipient: string;
  amount: bigint;
  height: bigint;
}

export interface TransferPage {
  /** Sent or received by that address. */
  address?: string;
  /** Only those older than this one. */
  before?: bigint;
  limit: number;
}

/** Newest first. */
export async function listTransfers(db: Db, id: ChainId, page: TransferPage): Promise<TransferRow[]> {
  const before = page.before ?? null;
  const branch = (side: 'sender' | 'recipient' | null) => sql`(
    select number, tx_id, index, currency, sender, recipient, amount, height from simchain.transfer
    where merchant_id = ${id.merchantId} and network = ${id.network}
      and (${before}::int8 is null or number < ${before}::int8)
      ${side === null ? sql`` : sql`and ${sql.ref(side)} = ${page.address}`}
    order by number desc limit ${page.limit})`;
  // Two index scans that each stop at the limit; an `or` would read all of the merchant's transfers.
  const rows =
    page.address === undefined ? branch(null) : sql`${branch('sender')} union ${branch('recipient')}`;
  const result = await sql<TransferRow>`
    select * from (${rows}) as t order by number desc limit ${page.limit}`.execute(db);
  return result.rows;
}

export async function findTransferNumber(
  db: Db,
  { merchantId, network }: ChainId,
  txId: string,
  index: number,
): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('simchain.transfer')
    .select('number')
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .where('tx_id', '=', txId)
    .where('index', '=', index)
    .executeTakeFirst();
  return row?.number;
}

/** Transfers in blocks above that height; `is_kept`: the sender's balance is tracked. */
export async function listTransfersAbove(
  db: Db,
  { merchantId, network }: ChainId,
  height: bigint,
): Promise<(TransferRow & { origin: 'wallet' | 'foreign'; is_kept: boolean })[]> {
  const { rows } = await sql<TransferRow & { origin: 'wallet' | 'foreign'; is_kept: boolean }>`
    select t.number, t.tx_id, t.index, t.currency, t.sender, t.recipient, t.amount, t.height, x.origin,
           x.origin = 'wallet' or t.from_account as is_kept
    from simchain.transfer t
    join simchain.transaction x
      on x.merchant_id = t.merchant_id and x.network = t.network and x.tx_id = t.tx_id
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.height > ${height}
    order by t.number`.execute(db);
  return rows;
}
