import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import type { PaidAddress } from '../../transfers/recipients/index.ts';
import type { BatchRow } from '../queries.ts';
import '../tables.ts';

/** Addresses that a merchant's payouts have paid, of those that look so. @param looks by `lookOf` */
export async function listPaidAlike(
  db: Db,
  merchantId: string,
  network: BatchRow['network'],
  looks: readonly string[],
): Promise<PaidAddress[]> {
  const { rows } = await sql<PaidAddress>`
    select i.address, bool_or(b.required_approvals > 0) as "isApproved"
    from payout_item i join payout_batch b using (merchant_id, batch_id)
    where i.merchant_id = ${merchantId} and i.network = ${network} and i.status = 'succeeded'
      and lower(left(replace(i.address, '0x', ''), 4) || right(i.address, 4)) = any(${looks}::text[])
    group by i.address`.execute(db);
  return rows;
}
