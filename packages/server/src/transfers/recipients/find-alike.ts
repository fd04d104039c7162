import type { Network } from '@florin/contract/money';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import type { PaidAddress } from './look-alikes.ts';

/** A table of payments by the look of their addresses, and what shows that people approved one to an address. */
interface PaidTable {
  payments: RawBuilder<unknown>;
  isApproved: RawBuilder<unknown>;
}

/**
 * The addresses of succeeded payments that look so, each found by one step along an index, however often it was paid.
 *
 * @param looks by `lookOf`
 * @param isApproved a condition on `alike.address` and `alike.look`
 */
export async function findAlike(
  db: Db,
  { merchantId, network, looks }: { merchantId: string; network: Network; looks: readonly string[] },
  { payments, isApproved }: PaidTable,
): Promise<PaidAddress[]> {
  const next = sql`select address from ${payments}
    where merchant_id = ${merchantId} and network = ${network} and status = 'succeeded'
      and lower(left(replace(address, '0x', ''), 4) || right(address, 4)) = seen.look`;
  const { rows } = await sql<PaidAddress>`
    with recursive alike (look, address) as (
      (select seen.look, found.address from unnest(${looks}::text[]) as seen (look)
       cross join lateral (${next} order by address limit 1) as found)
      union all
      (select seen.look, found.address from alike as seen
       cross join lateral (${next} and address > seen.address order by address limit 1) as found)
    )
    select address, ${isApproved} as "isApproved" from alike`.execute(db);
  return rows;
}
