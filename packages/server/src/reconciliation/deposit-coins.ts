import type { Asset, Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { sweptAddress } from '../custody/index.ts';
import type { Db } from '../platform/db/index.ts';

/** The range of coins that the books expect at one deposit address. */
export interface ExpectedCoins {
  address: string;
  currency: Asset;
  /** Credited coins that are in no sweep. */
  min: bigint;
  /** Plus coins of sweeps that are under way, or whose transaction a reorganisation removed. */
  max: bigint;
}

/**
 * Expected coins at a merchant's deposit addresses on a network, from credited deposits and sweeps. Addresses that should be
 * empty, which are most, are left out. A sweep of a deposit lost to a reorganisation may have moved another deposit's coins
 * until its parts are reassigned, and a sweep that was decided as failed may have moved coins after all (stray).
 */
export async function expectedAtDeposits(
  db: Db,
  merchantId: string,
  network: Network,
): Promise<ExpectedCoins[]> {
  const { rows } = await sql<{ address: string; currency: Asset; least: string; most: string }>`
    with moved as (
      select p.tx_id, p.index, sum(p.amount) as amount from sweep_part p
      join transfer s on s.merchant_id = p.merchant_id and s.owner_type = 'sweep' and s.owner_id = p.sweep_id
      where p.merchant_id = ${merchantId} and p.network = ${network}
        and s.status = 'succeeded' and s.lost_at is null
        and not exists (select from transfer_attempt a where a.merchant_id = s.merchant_id
          and a.network = s.network and a.gone_at is not null and a.tx_id = s.tx_id)
      group by p.tx_id, p.index
    ), stray as (
      select ${sweptAddress('s', 'a')} as address, a.currency, sum(s.amount) as amount from transfer_attempt a
      join transfer s on s.merchant_id = a.merchant_id and s.transfer_id = any(a.stray_ids)
      where a.merchant_id = ${merchantId} and a.network = ${network} and a.key_ref <> 'hot' and a.stray_ids <> '{}'
      group by 1, a.currency
    ), deposits as (
      select t.address, t.currency,
        sum(t.amount - t.swept_amount) filter (where t.lost_at is null) as unswept,
        sum(t.swept_amount) filter (where t.lost_at is not null) as lost,
        sum(t.amount - coalesce(m.amount, 0)) filter (where t.lost_at is null) as unmoved
      from payment_transaction t
      left join moved m on m.tx_id = t.tx_id and m.index = t.index
      where t.merchant_id = ${merchantId} and t.network = ${network} and t.status = 'final'
        and t.currency is not null and not t.pulled
      group by t.address, t.currency
    )
    select address, currency,
      greatest(0, coalesce(unswept, 0) - coalesce(lost, 0) - coalesce(s.amount, 0))::text as least,
      coalesce(unmoved, 0)::text as most
    from deposits left join stray s using (address, currency)
    where coalesce(unswept, 0) <> 0 or coalesce(unmoved, 0) <> 0`.execute(db);
  return rows.map(({ address, currency, least, most }) => ({
    address,
    currency,
    min: BigInt(least),
    max: BigInt(most),
  }));
}
