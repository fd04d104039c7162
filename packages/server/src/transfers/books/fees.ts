import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import '../tables.ts';

/** What transactions have cost. */
export interface FeeSum {
  /** Of the network's own coin, in its smallest unit. */
  native: bigint;
  /**
   * At the prices of their time, in dollars with six decimals, without those whose price was not known; null where none of
   * them had one.
   */
  dollars: string | null;
}

/** The fees of transactions decided since a time: a merchant's with its sweeps and top-ups, or the gas tank's for all. */
export async function sumFees(
  db: Db,
  of: { merchantId: string } | { tank: string },
  { network, since }: { network: Network; since: number },
): Promise<FeeSum> {
  const whose =
    'tank' in of ? sql`key_ref = 'tank' and sender = ${of.tank}` : sql`merchant_id = ${of.merchantId}`;
  const { rows } = await sql<{ native: string; dollars: string | null }>`
    select coalesce(sum(fee_native), 0)::text as native,
      (case when sum(fee_native) > 0 then sum(fee_usd) else 0 end)::numeric(24, 6)::text as dollars
    from transfer_attempt
    where ${whose} and network = ${network} and completed_at >= ${since}`.execute(db);
  return { native: BigInt(rows[0]?.native ?? 0), dollars: rows[0]?.dollars ?? null };
}
