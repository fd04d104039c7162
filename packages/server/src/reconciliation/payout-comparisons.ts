import { type RawBuilder, sql } from 'kysely';
import { entryRows } from '../ledger/index.ts';
import { payoutBatchRows, payoutItemRows } from '../payouts/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { amounts, type Comparison } from './comparison.ts';
import { compareWithTransfers } from './transfer-comparison.ts';

const item = (id: string) => `payout item ${encodeId('payoutItem', id)}`;

/** A succeeded item is settled once, a failed one released once; others have booked nothing. */
const itemEntries: Comparison = {
  name: 'payout items and their entries',
  resource: item,
  amounts: ['paid', 'fee charged', 'given back', 'coins given back'].map((what) => `${what}, by its entries`),
  rows: (merchantId) => sql`
    select id, coalesce(i.currency, e.currency),
      ${amounts(
        sql`case when status = 'succeeded' then amount end`,
        sql`case when status = 'succeeded' then fee end`,
        sql`case when status = 'failed' then amount + fee end`,
        sql`case when status = 'failed' then amount end`,
      )},
      case when i.id is null or (i.network = e.network and i.currency = e.currency)
        then ${amounts(sql`paid`, sql`charged`, sql`given_back`, sql`freed`)}
        else array[0, 0, 0, 0]::bigint[] end
    from (select item_id as id, network, currency, status, amount, fee from ${payoutItemRows(merchantId)} as i) as i
    full join (
      select cause_id as id, min(network collate "C") as network, min(currency collate "C") as currency,
        -- A lost item that is given back is booked back first.
        sum(case when debit = 'payout_hold' then amount else -amount end) filter (
          where debit = 'payout_hold' and credit like 'custody_hold:%'
            or credit = 'payout_hold' and debit like 'custody_hold:%') as paid,
        sum(case when debit = 'payout_hold' then amount else -amount end) filter (
          where debit = 'payout_hold' and credit = 'fees' or credit = 'payout_hold' and debit = 'fees') as charged,
        sum(amount) filter (where debit = 'payout_hold' and credit = 'available') as given_back,
        sum(amount) filter (where debit like 'custody:%' and credit like 'custody_hold:%') as freed
      from ${entryRows(merchantId, 'payout_item')} as e
      group by cause_id
    ) as e using (id)`,
};

const itemsOrdered = (merchantId: string): RawBuilder<unknown> => sql`
  select item_id as id, item_id as owner_id, network, currency, amount, tx_id,
    case when status = 'processing' then 'open' when status = 'succeeded' and lost_at is not null then 'lost'
      when status = 'succeeded' then 'paid' when status = 'failed' then 'unpaid' end as state
  from ${payoutItemRows(merchantId)} as i`;

const batchSums: Comparison = {
  name: 'payout batches, their items and their entries',
  resource: (id) => `payout batch ${encodeId('payoutBatch', id)}`,
  amounts: [
    'frozen, by its items',
    'service fees charged, by its items',
    'debit, by its items',
    'debit, by its entries',
    'coins set aside, by its entries',
  ],
  rows: (merchantId) => sql`
    select batch_id, b.currency,
      ${amounts(
        sql`i.open`,
        sql`i.charged`,
        sql`i.sent`,
        sql`case when is_reserved then debit_amount end`,
        sql`i.coins`,
      )},
      ${amounts(
        sql`frozen_amount`,
        sql`charged_service_fee_amount`,
        sql`case when is_reserved then debit_amount end`,
        sql`e.held`,
        sql`e.coins`,
      )}
    from ${payoutBatchRows(merchantId)} as b
    left join (
      select batch_id,
        sum(amount + fee) filter (where status in ('queued', 'processing')) as open,
        sum(amount + fee) filter (where status in ('queued', 'processing', 'succeeded', 'failed')) as sent,
        sum(amount) filter (where status in ('queued', 'processing', 'succeeded', 'failed')) as coins,
        sum(fee) filter (where status = 'succeeded') as charged
      from ${payoutItemRows(merchantId)} as i
      group by batch_id
    ) as i using (batch_id)
    left join (
      select cause_id as batch_id,
        sum(case when credit = 'payout_hold' then amount when debit = 'payout_hold' then -amount end) as held,
        sum(case when debit like 'custody_hold:%' then amount when credit like 'custody_hold:%' then -amount end) as coins
      from ${entryRows(merchantId, 'payout_batch')} as e
      group by cause_id
    ) as e using (batch_id)`,
};

export const PAYOUT_COMPARISONS: readonly Comparison[] = [
  itemEntries,
  compareWithTransfers(
    { name: 'payout items and their transfers', resource: item },
    'payout_item',
    itemsOrdered,
  ),
  batchSums,
];
