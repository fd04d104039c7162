import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import '../tables.ts';

/** Transactions of ours that are not decided yet. */
export interface UnderWay {
  network: Network;
  merchantId: string;
  /** `gas`: coins for a hot wallet's fees, out of the gas tank; `lend`, `unlend`: its stake; `sweep`: deposits on their way to it; `payment`: out of it; `charge`: of a payer's wallet. */
  kind: string;
  count: number;
}

/** Transactions that are reserved, signed or sent, of each merchant or of one, by what they move. */
export async function countUnderWay(db: Db, merchantId?: string): Promise<UnderWay[]> {
  const own = merchantId === undefined ? sql`` : sql`and merchant_id = ${merchantId}`;
  const { rows } = await sql<{ network: Network; merchant_id: string; kind: string; count: bigint }>`
    select network, merchant_id, count(*) as count,
      coalesce(movement ->> 'kind', case
        when exists (
          select from transfer
          where merchant_id = a.merchant_id and transfer_id = a.item_ids[1] and charge is not null) then 'charge'
        when key_ref = 'tank' or key_ref like 'deposit:%' then 'sweep'
        else 'payment' end) as kind
    from transfer_attempt a where status in ('reserved', 'signed', 'sent') ${own}
    group by 1, 2, 4 order by 1, 2, 4`.execute(db);
  return rows.map(({ network, merchant_id: of, kind, count }) => ({
    network,
    merchantId: of,
    kind,
    count: Number(count),
  }));
}
