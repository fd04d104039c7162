import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import { findAlike, type PaidAddress } from '../../transfers/recipients/index.ts';
import type { BatchRow } from '../queries.ts';
import '../tables.ts';

/** Of an address that was paid more often than that, approvals are looked for among the newest payments. */
const NEWEST = 1_000;

/** Addresses that a merchant's payouts have paid, of those that look so. @param looks by `lookOf` */
export async function listPaidAlike(
  db: Db,
  merchantId: string,
  network: BatchRow['network'],
  looks: readonly string[],
): Promise<PaidAddress[]> {
  const isApproved = sql`exists (
    select from (
      select merchant_id, batch_id from payout_item
      where merchant_id = ${merchantId} and network = ${network} and status = 'succeeded'
        and lower(left(replace(address, '0x', ''), 4) || right(address, 4)) = alike.look and address = alike.address
      order by batch_id desc limit ${sql.lit(NEWEST)}
    ) as newest
    join payout_batch b using (merchant_id, batch_id) where b.required_approvals > 0)`;
  return await findAlike(db, { merchantId, network, looks }, { payments: sql`payout_item`, isApproved });
}
