import { type RawBuilder, sql } from 'kysely';
import { transferRows } from '../transfers/index.ts';
import { amounts, type Comparison } from './comparison.ts';

/**
 * What resources say of the transfers that they have ordered, against the transfers. A resource follows its transfer in a
 * transaction of its own, so while it is `open` the transfer may be decided.
 *
 * @param owners rows of `id`, `owner_id` (of the transfer), `network`, `currency`, `amount`, `tx_id`, and `state`: `open` and
 *   `paid` have ordered a transfer, `unpaid` may have, null has not
 */
export const againstTransfers = (
  { name, resource }: Pick<Comparison, 'name' | 'resource'>,
  ownerType: string,
  owners: (merchantId: string) => RawBuilder<unknown>,
): Comparison => ({
  name,
  resource,
  amounts: ['amount of its transfer', 'paid by its transfer', 'still to be paid by its transfer'],
  rows: (merchantId) => sql`
    select coalesce(o.id::text, owner_id::text), coalesce(o.currency, t.currency),
      ${amounts(
        sql`case when o.state in ('open', 'paid') then o.amount when o.state = 'unpaid' then t.amount end`,
        sql`case when o.state = 'paid' then o.amount end`,
        sql`0`,
      )},
      ${amounts(
        sql`case when o.id is null or (o.network = t.network and o.currency = t.currency) then t.amount end`,
        sql`case when t.status <> 'succeeded' or o.state = 'open' then 0
          when o.state = 'paid' and t.tx_id is distinct from o.tx_id then 0
          else t.amount end`,
        sql`case when o.state is distinct from 'open' and t.status in ('queued', 'sending') then t.amount end`,
      )}
    from (${owners(merchantId)}) as o
    full join ${transferRows(merchantId, ownerType)} as t using (owner_id)`,
});
