import { type RawBuilder, sql } from 'kysely';
import { transferRows } from '../transfers/books/index.ts';
import { amounts, type Comparison } from './comparison.ts';

/**
 * Compares resources with the transfers that they ordered. A resource is updated in a transaction after its transfers':
 * while it is `open` they may be decided, and while it is `lost` the lost one may be back, or another may have paid.
 *
 * @param owners rows of `id`, `owner_id` (of the transfers), `network`, `currency`, `amount`, `tx_id`, and `state`: `open`,
 *   `paid` and `lost` (paid by a transaction that a reorganisation took) have ordered one, `unpaid` may have, null has not
 */
export const compareWithTransfers = (
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
        sql`case when o.state in ('open', 'paid', 'lost') or o.state = 'unpaid' and t.paid is not null then o.amount end`,
        sql`case when o.state in ('paid', 'lost') then o.amount end`,
        sql`0`,
      )},
      ${amounts(
        sql`case when o.id is null or (o.network = t.network and o.currency = t.currency) then t.amount end`,
        PAID,
        sql`case when o.state in ('paid', 'unpaid') or o.state is null then t.open end`,
      )}
    from (${owners(merchantId)}) as o
    full join ${transferRows(merchantId, ownerType)} as t using (owner_id)`,
});

/** A lost resource counts as paid while its own transaction is a lost one, or is back. */
const PAID = sql`case
  when o.state = 'open' then 0
  when o.state = 'paid' and not coalesce(o.tx_id = any(t.paid_by), false) then 0
  when o.state = 'lost' then case when o.tx_id = any(t.paid_by || t.lost_by) then o.amount end
  else t.paid end`;
