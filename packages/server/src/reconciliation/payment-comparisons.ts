import { type RawBuilder, sql } from 'kysely';
import { entryRows } from '../ledger/index.ts';
import { creditedRows, paymentRows } from '../payments/books/index.ts';
import { refundRows } from '../refunds/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { amounts, type Comparison } from './comparison.ts';
import { compareWithTransfers } from './transfer-comparison.ts';

const payment = (id: string) => `payment ${encodeId('payment', id)}`;

/** Counted money per payment. */
const countedSums = (merchantId: string): RawBuilder<unknown> => sql`(
  select payment_id, network, currency, sum(amount) as amount from ${creditedRows(merchantId)} as t
  where kind = 'counted' group by payment_id, network, currency)`;

/** `received_amount` is the final counted money, in the token and on the network of the fixed option. */
const received: Comparison = {
  name: 'payments and their transactions',
  resource: payment,
  amounts: ['received, by its transactions'],
  rows: (merchantId) => sql`
    select payment_id, currency, ${amounts(sql`t.amount`)}, ${amounts(sql`p.received_amount`)}
    from (
      select payment_id, network, currency, received_amount from ${paymentRows(merchantId)} as p
      where received_amount > 0
    ) as p
    full join ${countedSums(merchantId)} as t using (payment_id, network, currency)`,
};

const REFUND_SUMS = sql`sum(amount) filter (where status = 'succeeded') as paid,
  sum(amount) filter (where status in ('pending', 'processing')) as open`;
const REFUND_AMOUNTS = ['refunded, by its refunds', 'being refunded, by its refunds'];
const refundsMade = amounts(sql`r.paid`, sql`r.open`);
const refundsNoted = amounts(sql`refunded_amount`, sql`refunding_amount`);

const refunded: Comparison = {
  name: 'payments and their refunds',
  resource: payment,
  amounts: REFUND_AMOUNTS,
  rows: (merchantId) => sql`
    select payment_id, currency, ${refundsMade}, ${refundsNoted}
    from (
      select payment_id, currency, refunded_amount, refunding_amount from ${paymentRows(merchantId)} as p
      where refunded_amount > 0 or refunding_amount > 0
    ) as p
    full join (
      select payment_id, currency, ${REFUND_SUMS} from ${refundRows(merchantId)} as r
      where source_tx_id is null group by payment_id, currency
    ) as r using (payment_id, currency)`,
};

/** A refund that names a transaction draws on that alone. */
const refundedTransfers: Comparison = {
  name: 'wrong tokens and their refunds',
  resource: (id) => `transaction ${id}`,
  amounts: REFUND_AMOUNTS,
  rows: (merchantId) => sql`
    select tx_id || ':' || index, currency, ${refundsMade}, ${refundsNoted}
    from (
      select network, tx_id, index, currency, refunded_amount, refunding_amount from ${creditedRows(merchantId)} as t
      where refunded_amount > 0 or refunding_amount > 0
    ) as t
    full join (
      select network, source_tx_id as tx_id, source_index as index, currency, ${REFUND_SUMS}
      from ${refundRows(merchantId)} as r
      where source_tx_id is not null group by network, source_tx_id, source_index, currency
    ) as r using (network, tx_id, index, currency)`,
};

const growth = (account: string) =>
  sql`sum(case when credit = ${account} then e.amount when debit = ${account} then -e.amount end)`;

/** Booked sums per payment, including its refunds. */
const bookedSums = (merchantId: string): RawBuilder<unknown> => sql`(
  select coalesce(r.payment_id, e.cause_id) as payment_id, e.currency,
    ${growth('held')} as held, ${growth('available')} as available, ${growth('refund_hold')} as refund_hold,
    ${growth('seized')} as seized,
    sum(case when debit like 'reorg_loss:%' then e.amount when credit like 'reorg_loss:%' then -e.amount end) as lost
  from ${entryRows(merchantId, 'payment', 'refund')} as e
  left join ${refundRows(merchantId)} as r on e.cause_type = 'refund' and r.refund_id = e.cause_id
  group by 1, 2)`;

/** Expected balances per payment, from its rows: available if completed, else held, less its refunds. */
const expectedSums = (merchantId: string): RawBuilder<unknown> => sql`(
  select payment_id, currency, sum(held) as held, sum(available) as available, sum(refund_hold) as refund_hold,
    sum(seized) as seized, sum(lost) as lost
  from (
    select payment_id, currency, held_amount,
      case when status = 'completed' then received_amount - refunded_amount - refunding_amount else 0 end,
      refunding_amount, 0, 0
    from ${paymentRows(merchantId)} as p where received_amount > 0
    union all
    select payment_id, currency, held_amount, case when is_accepted then amount else 0 end, refunding_amount,
      case when is_seized then amount else 0 end, case when is_lost then amount else 0 end
    from ${creditedRows(merchantId)} as t
    where kind <> 'counted' or is_lost
  ) as part (payment_id, currency, held, available, refund_hold, seized, lost)
  group by payment_id, currency)`;

const BALANCES = ['held', 'available', 'refund_hold', 'seized', 'lost'] as const;
const balancesOf = (table: string) => amounts(...BALANCES.map((balance) => sql.ref(`${table}.${balance}`)));

const entries: Comparison = {
  name: 'payments and their entries',
  resource: payment,
  amounts: ['held', 'available', 'set aside for refunds', 'seized', 'lost to a reorganisation'].map(
    (what) => `${what}, by its entries`,
  ),
  rows: (merchantId) => sql`
    select payment_id, currency, ${balancesOf('expected')}, ${balancesOf('booked')}
    from ${expectedSums(merchantId)} as expected
    full join ${bookedSums(merchantId)} as booked using (payment_id, currency)`,
};

/** A charge receives exactly its quote. A page may receive less, within the tolerance or by a merchant's acceptance. */
const completed: Comparison = {
  name: 'completed payments and their money',
  resource: payment,
  amounts: ['money that completed it'],
  rows: (merchantId) => sql`
    select payment_id, coalesce(currency, price_currency),
      ${amounts(sql`case when is_charge or t.amount is null then coalesce(pay_amount, price) else t.amount end`)},
      ${amounts(sql`t.amount`)}
    from ${paymentRows(merchantId)} as p
    left join ${countedSums(merchantId)} as t using (payment_id, network, currency)
    where status = 'completed'`,
};

const chargesOrdered = (merchantId: string): RawBuilder<unknown> => sql`
  select p.payment_id as id, p.payment_id as owner_id, p.network, p.currency, p.pay_amount as amount, t.tx_id,
    case when status = 'processing' then 'open' when status = 'failed' then 'unpaid' else 'paid' end as state
  from ${paymentRows(merchantId)} as p
  left join ${creditedRows(merchantId)} as t on t.payment_id = p.payment_id and t.pulled
  where is_charge`;

export const PAYMENT_COMPARISONS: readonly Comparison[] = [
  received,
  refunded,
  refundedTransfers,
  entries,
  completed,
  compareWithTransfers({ name: 'charges and their transfers', resource: payment }, 'charge', chargesOrdered),
];
