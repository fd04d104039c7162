import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { listed } from '../../platform/db/statements/index.ts';
import { lockPayments, transactionKey } from '../reads/queries.ts';
import '../tables.ts';

// Credited transfers that a reorganisation took from the chain, or that were mined again.

interface MerchantNetwork {
  merchantId: string;
  network: Network;
}

/** A credited transfer with the watch address to scan for it. */
export interface FinalTransfer {
  key: string;
  paymentId: string;
  txId: string;
  index: number;
  watch: string;
  height: bigint;
  isLost: boolean;
  isEarly: boolean;
}

/** Final transfers in blocks of these heights; charges are left out. */
export async function listFinalTransfers(
  db: Db,
  merchantId: string,
  { network, above, upTo }: { network: Network; above: bigint; upTo: bigint },
): Promise<FinalTransfer[]> {
  const { rows } = await sql<FinalTransfer>`
    select t.payment_id as "paymentId", t.tx_id as "txId", t.index, o.watch, t.height,
      t.lost_at is not null as "isLost", t.is_early as "isEarly"
    from payment_transaction t
    join payment_option o on o.merchant_id = t.merchant_id and o.payment_id = t.payment_id
      and o.network = t.network and o.address = t.address
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.status = 'final' and not t.pulled
      and t.height > ${above} and t.height <= ${upTo}`.execute(db);
  return rows.map((row) => ({ ...row, key: transactionKey({ network, tx_id: row.txId, index: row.index }) }));
}

/** Whether credited transfers lie in blocks above that height, which are not final. */
export async function hasCreditedAbove(
  db: Db,
  merchantId: string,
  { network, height }: { network: Network; height: bigint },
): Promise<boolean> {
  const { rows } = await sql`
    select from payment_transaction
    where merchant_id = ${merchantId} and network = ${network} and is_early and lost_at is null and height > ${height}
    limit 1`.execute(db);
  return rows.length > 0;
}

/** The amount to book for a transfer that is lost or mined again. */
export interface Coins {
  paymentId: string;
  txId: string;
  network: Network;
  currency: Asset;
  amount: bigint;
}

/**
 * Marks credited transfers that are in no block any more as lost, each once. Transfers of unlisted tokens are ignored.
 *
 * @returns the newly lost ones
 */
export async function markLost(
  tx: Tx,
  { merchantId, network }: MerchantNetwork,
  gone: readonly FinalTransfer[],
  nowSeconds: number,
): Promise<Coins[]> {
  await lockPayments(tx, merchantId, [...new Set(gone.map((row) => row.paymentId))]);
  const { rows } = await sql<Coins>`
    update payment_transaction t set lost_at = ${nowSeconds}
    from ${listed('g', gone, { tx_id: ['text', (row) => row.txId], index: ['integer', (row) => row.index] })}
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.tx_id = g.tx_id and t.index = g.index
      and t.status = 'final' and t.lost_at is null and t.currency is not null
    returning t.payment_id as "paymentId", t.tx_id as "txId", t.network, t.currency, t.amount`.execute(tx);
  return rows;
}

/** Moves credited transfers to the blocks that hold them now: none is lost. The caller holds their payments' locks. */
export async function moveToBlocks(
  tx: Tx,
  merchantId: string,
  mined: readonly { network: Network; tx_id: string; index: number; height: bigint }[],
): Promise<void> {
  if (mined.length === 0) return;
  await sql`
    update payment_transaction t set lost_at = null, height = m.height
    from ${listed('m', mined, {
      network: ['text', (m) => m.network],
      tx_id: ['text', (m) => m.tx_id],
      index: ['integer', (m) => m.index],
      height: ['bigint', (m) => m.height],
    })}
    where t.merchant_id = ${merchantId} and t.network = m.network and t.tx_id = m.tx_id and t.index = m.index`.execute(
    tx,
  );
}

/** Moves the cursor back so that later blocks are read again. A scan that runs meanwhile cannot move it ahead. */
export async function moveCursorBack(
  tx: Tx,
  { merchantId, network }: MerchantNetwork,
  cursor: string,
): Promise<void> {
  await sql`
    update deposit_cursor set cursor = ${cursor}
    where merchant_id = ${merchantId} and network = ${network}`.execute(tx);
}
