import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import type { BatchRow } from '../queries.ts';
import '../tables.ts';

/** Addresses that a merchant's payouts have paid, of those that look so. @param looks by `lookOf` */
export async function listPaidAlike(
  db: Db,
  merchantId: string,
  network: BatchRow['network'],
  looks: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select distinct address from payout_item
    where merchant_id = ${merchantId} and network = ${network} and status = 'succeeded'
      and lower(left(replace(address, '0x', ''), 4) || right(address, 4)) = any(${looks}::text[])`.execute(
    db,
  );
  return rows.map(({ address }) => address);
}
