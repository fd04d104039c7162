import { idText } from './check-batches.ts';
import type { Finding, Query } from './checker.ts';
import type { GoodClient } from './good-client.ts';

/** Confirmations that the simulated chain calls final, written down a second time on purpose. */
const REQUIRED = 3;

/** What arrived on the chain at an address that a payment gave out, or was pulled for a payment. */
const ARRIVED = `
  select t.*, c.settled_height, a.payment_id from simchain.transfer t
  join simchain.chain c on c.merchant_id = t.merchant_id and c.network = t.network
  join deposit_address a on a.merchant_id = t.merchant_id and a.network = t.network and a.watch = t.recipient
  where t.amount > 0 and t.currency is not null
  union all
  select t.*, c.settled_height, s.owner_id from simchain.transfer t
  join simchain.chain c on c.merchant_id = t.merchant_id and c.network = t.network
  left join transfer s on s.merchant_id = t.merchant_id and s.transfer_id::text = t.item_id and s.owner_type = 'charge'
  where t.mandate_id is not null`;

const CREDITED_WITHOUT_COINS = `
  select p.network, p.tx_id, p.index, p.amount, t.amount as on_chain, t.height, c.settled_height
  from payment_transaction p
  join simchain.chain c using (merchant_id, network)
  left join simchain.transfer t using (merchant_id, network, tx_id, index)
  where p.status = 'final' and p.currency is not null and p.lost_at is null and (t.tx_id is null or t.amount <> p.amount or t.recipient <> p.address
    or t.currency is distinct from p.currency or t.height > c.settled_height - ${REQUIRED - 1})`;

const NOT_CREDITED = `
  select t.network, t.tx_id, t.index, t.payment_id, p.status from (${ARRIVED}) t
  left join payment_transaction p using (merchant_id, network, tx_id, index)
  where t.height <= t.settled_height - ${REQUIRED - 1}
    and (p.status is distinct from 'final' or p.payment_id <> t.payment_id)`;

/**
 * Each transfer is booked once: what came into custody for a payment is what arrived for it. A seizure that is decided
 * is taken back, and comes in anew or is kept.
 */
const BOOKED_OTHERWISE = `
  with booked as (
    select merchant_id, cause_id as payment_id, currency, network,
      sum(case when debit = 'seized' then -amount else amount end) as amount from ledger_entry
    where cause_type = 'payment' and (debit like 'custody:%' or debit = 'seized' or credit like 'kept:%')
    group by 1, 2, 3, 4
  ), arrived as (
    select merchant_id, payment_id, currency, network, sum(amount) as amount from (
      select merchant_id, payment_id, currency, network, amount from (${ARRIVED}) t
      where height <= settled_height - ${REQUIRED - 1}
      union all
      -- What a reorganisation took stays booked for the merchant: the loss is the operator's.
      select merchant_id, payment_id, currency, network, amount from payment_transaction p
      where lost_at is not null and not exists (select from (${ARRIVED}) t where t.merchant_id = p.merchant_id
        and t.network = p.network and t.tx_id = p.tx_id and t.index = p.index)
    ) t group by 1, 2, 3, 4
  )
  select payment_id, currency, network, b.amount as booked, a.amount as arrived
  from booked b full join arrived a using (merchant_id, payment_id, currency, network)
  where b.amount is distinct from a.amount`;

const HELD_OTHERWISE = `
  with kept as (
    select merchant_id, fixed_currency as currency, held_amount as amount from payment where held_amount > 0
    union all
    select merchant_id, currency, held_amount from payment_transaction where held_amount > 0
  ), sums as (select merchant_id, currency, sum(amount) as amount from kept group by 1, 2)
  select merchant_id, currency, a.balance, s.amount as kept
  from (select * from ledger_account where account = 'held') a full join sums s using (merchant_id, currency)
  where coalesce(a.balance, 0) <> coalesce(s.amount, 0)`;

/**
 * Paid: what counts reaches the price less the tolerance of a new store, half a percent and no more than 0.50. After a
 * cancel it never is, as no client of the harness accepts what came. Money that was seen after the expiry completes a payment only
 * while its rate can be read and has not moved far: where a source of rates is broken meanwhile, it is held.
 */
const STATUS_OTHERWISE = `
  with sums as (
    select p.merchant_id, p.payment_id, p.status, p.received_amount, p.canceled_at,
      coalesce(sum(t.amount) filter (where t.kind = 'counted' and t.status = 'final'), 0) as counted,
      count(*) filter (where t.status = 'seen') as seen,
      coalesce(bool_or(t.seen_at > p.expires_at) filter (where t.kind = 'counted' and t.status = 'final'), false) as late,
      min(o.pay_amount - least(o.pay_amount * 50 / 10000, 500000)) as enough
    from payment p
    left join payment_option o on o.merchant_id = p.merchant_id and o.payment_id = p.payment_id
      and o.currency = p.fixed_currency and o.network = p.fixed_network
    left join payment_transaction t on t.merchant_id = p.merchant_id and t.payment_id = p.payment_id
    group by p.merchant_id, p.payment_id
  )
  select * from sums
  where counted <> received_amount or seen > 0 or status = 'processing'
    or ((status = 'completed') <> (coalesce(counted >= enough, false) and canceled_at is null)
      and not (late and status = 'expired'))`;

export const DEPOSIT_CHECKS: readonly (readonly [invariant: string, name: string, text: string])[] = [
  ['I3', 'credited and not final on the chain', CREDITED_WITHOUT_COINS],
  ['I3', 'arrived and not credited', NOT_CREDITED],
  ['I3', 'booked otherwise than it arrived', BOOKED_OTHERWISE],
  ['I1', 'held and what payments keep there differ', HELD_OTHERWISE],
  ['I7', 'a payment is not what its transfers make it', STATUS_OTHERWISE],
];

/** The allowed moves of a payment, written down a second time on purpose; a news without a move is one of its money. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  pending: ['pending', 'processing', 'completed', 'expired', 'cancelled', 'frozen'],
  processing: ['pending', 'processing', 'completed', 'expired', 'frozen'],
  // What was released of a charge is on its way again until its invoice has decided.
  frozen: ['frozen', 'pending', 'processing', 'completed', 'expired'],
  completed: ['completed'],
  expired: ['expired', 'completed'],
  cancelled: ['cancelled'],
};

/** A charge of a mandate has no page: it is paid or it fails. */
const CHARGE_MOVES: Readonly<Record<string, readonly string[]>> = {
  pending: ['pending', 'processing', 'completed', 'failed', 'frozen'],
  // Released after a seizure, it waits for its invoice to say whether it still needs the money.
  processing: ['processing', 'completed', 'failed', 'frozen', 'expired'],
  frozen: ['frozen', 'processing', 'completed', 'failed', 'expired'],
  completed: ['completed'],
  failed: ['failed'],
  expired: ['expired'],
};

interface PaymentRow {
  payment_id: string;
  status: string;
  received: string;
  is_charge: boolean;
  /** Of an invoice that another payment has paid: its page is closed without news. */
  is_closed: boolean;
}

/** I6, I7: news of payments without gaps, one for each allowed move, the last of which is the payment as it is. */
export async function checkPayments(query: Query): Promise<Finding[]> {
  const payments = await query<PaymentRow>(
    `select payment_id, p.status, received_amount::text as received, p.session_id is null as is_charge,
       p.status = 'expired' and i.status is not distinct from 'paid' as is_closed
     from payment p left join invoice i using (merchant_id, invoice_id)`,
  );
  const events = await query<{ resource: string; sequence: number; body: string }>(
    `select resource, sequence::int, body from event where resource like 'pay\\_%' order by resource, sequence`,
  );
  const byPayment = Map.groupBy(events, ({ resource }) => resource);
  return payments.flatMap((payment) => {
    const id = `pay_${idText(payment.payment_id)}`;
    return checkHistory(id, payment, byPayment.get(id) ?? []);
  });
}

function checkHistory(
  id: string,
  payment: PaymentRow,
  events: readonly { sequence: number; body: string }[],
): Finding[] {
  const findings: Finding[] = [];
  let [before, received] = ['pending', '0'];
  for (const [i, { sequence, body }] of events.entries()) {
    const { object } = JSON.parse(body).data;
    if (sequence !== i + 1)
      findings.push({ invariant: 'I6', what: `${id}: event ${sequence} at place ${i + 1}` });
    if ((payment.is_charge ? CHARGE_MOVES : MOVES)[before]?.includes(object.status) !== true)
      findings.push({ invariant: 'I7', what: `${id} went from ${before} to ${object.status}` });
    [before, received] = [object.status, String(object.amount_received)];
  }
  if (payment.is_closed && received === payment.received) return findings;
  if (before !== payment.status || received !== payment.received) {
    const [told, is] = [`${before} with ${received}`, `${payment.status} with ${payment.received}`];
    findings.push({ invariant: 'I6', what: `${id} is ${is}, its last event says ${told}` });
  }
  return findings;
}

/** I4, I5: one session for each key, and it is still there. */
export async function checkSessions(query: Query, client: GoodClient): Promise<Finding[]> {
  const rows = await query<{ session_id: string }>(
    'select session_id from checkout_session where merchant_id = $1',
    [client.merchantId],
  );
  const known = new Set(rows.map((row) => `cs_${idText(row.session_id)}`));
  return [...client.sessionsByKey].flatMap(([key, ids]) => [
    ...(ids.size > 1 ? [{ invariant: 'I4', what: `answers for ${key} named ${[...ids].join(', ')}` }] : []),
    ...[...ids].filter((id) => !known.has(id)).map((id) => ({ invariant: 'I5', what: `${id} is lost` })),
  ]);
}
