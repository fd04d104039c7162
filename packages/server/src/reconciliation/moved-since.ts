import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../platform/db/index.ts';

/** A transfer of ours that may be in a block above some height. */
export interface MovedTransfer {
  transferId: string;
  /** What it takes out of its wallet; negative for a charge, which brings coins in. */
  amount: bigint;
  /** The deposit address that it sweeps, as `DepositAddress.watch`; empty between two hot wallets; null out of one. */
  watch: string | null;
}

interface MerchantNetwork {
  merchantId: string;
  network: Network;
}

/** Transfers and moves between wallets of a currency that are under way, or were decided in a block above the height, or whose block is gone. */
export async function listMovedSince(
  db: Db,
  { merchantId, network }: MerchantNetwork,
  { currency, above }: { currency: Asset; above: bigint },
): Promise<MovedTransfer[]> {
  const { rows } = await sql<MovedTransfer>`
    select t.transfer_id as "transferId", case when t.charge is null then t.amount else -t.amount end as amount,
      case when t.key_ref like 'deposit:%' then coalesce(d.watch, '') end as watch
    from transfer t
    left join transfer_attempt a on a.merchant_id = t.merchant_id and a.network = t.network and a.tx_id = t.tx_id
    left join deposit_address d on d.merchant_id = t.merchant_id and d.network = t.network
      and d.address_index = case when t.key_ref like 'deposit:%' then split_part(t.key_ref, ':', 2)::bigint end
    where t.merchant_id = ${merchantId} and t.network = ${network} and t.currency = ${currency}
      and (t.status = 'sending'
        or t.status = 'succeeded' and t.lost_at is null and (a.height > ${above} or a.gone_at is not null))
    union all
    select attempt_id, (movement->>'amount')::int8, '' from transfer_attempt
    where merchant_id = ${merchantId} and network = ${network}
      and movement->>'kind' = 'move' and movement->>'asset' = ${currency}
      and (status in ('reserved', 'signed', 'sent')
        or status = 'succeeded' and (height > ${above} or gone_at is not null))`.execute(db);
  return rows;
}

/** Sweeps that are ordered and not decided: the books already expect their coins at either end. */
export async function listOpenSweeps(
  db: Db,
  { merchantId, network }: MerchantNetwork,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ transfer_id: string }>`
    select transfer_id from transfer
    where merchant_id = ${merchantId} and network = ${network} and key_ref <> 'hot'
      and status in ('queued', 'sending')`.execute(db);
  return new Set(rows.map((row) => row.transfer_id));
}
