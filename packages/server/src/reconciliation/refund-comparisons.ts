import { type RawBuilder, sql } from 'kysely';
import { entryRows } from '../ledger/index.ts';
import { refundRows } from '../refunds/index.ts';
import { amounts, type Comparison } from './comparison.ts';
import { compareWithTransfers } from './transfer-comparison.ts';

/** Reports show the merchant's own `refund_id`. */
const refund = (ownId: string) => `refund ${ownId}`;

const refundEntries: Comparison = {
  name: 'refunds and their entries',
  resource: refund,
  amounts: ['set aside', 'paid', 'coins taken'].map((what) => `${what}, by its entries`),
  rows: (merchantId) => sql`
    select coalesce(r.own_id, refund_id::text), coalesce(r.currency, e.currency),
      ${amounts(
        sql`case when status in ('pending', 'processing') then amount end`,
        sql`case when status = 'succeeded' then amount end`,
        sql`case when status in ('processing', 'succeeded') then amount end`,
      )},
      case when r.own_id is null or (r.network = e.network and r.currency = e.currency)
        then ${amounts(sql`e.held`, sql`e.paid`, sql`e.coins`)}
        else array[0, 0, 0]::bigint[] end
    from ${refundRows(merchantId)} as r
    full join (
      select cause_id as refund_id, min(network collate "C") as network, min(currency collate "C") as currency,
        sum(case when credit = 'refund_hold' then amount when debit = 'refund_hold' then -amount end) as held,
        -- A lost refund that is given back is booked back first.
        sum(case when debit = 'refund_hold' then amount else -amount end) filter (
          where debit = 'refund_hold' and credit like 'custody_hold:%'
            or credit = 'refund_hold' and debit like 'custody_hold:%') as paid,
        sum(case when debit like 'custody_hold:%' and credit like 'custody:%' then amount
          when credit like 'custody_hold:%' and debit like 'custody:%' then -amount end) as coins
      from ${entryRows(merchantId, 'refund')} as e
      group by cause_id
    ) as e using (refund_id)`,
};

const refundsOrdered = (merchantId: string): RawBuilder<unknown> => sql`
  select own_id as id, refund_id as owner_id, network, currency, amount, tx_id,
    case when status = 'processing' then 'open' when status = 'succeeded' and lost_at is not null then 'lost'
      when status = 'succeeded' then 'paid' when status = 'failed' then 'unpaid' end as state
  from ${refundRows(merchantId)} as r`;

export const REFUND_COMPARISONS: readonly Comparison[] = [
  refundEntries,
  compareWithTransfers({ name: 'refunds and their transfers', resource: refund }, 'refund', refundsOrdered),
];
