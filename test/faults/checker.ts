// Judges a run from outside: from tables, from the chain's own tables and from what the harness's clients heard. It
// shares no code with the product, so that a bug there cannot hide itself here.
import { LEDGER_CHECKS } from '../ledger-checks.ts';
import type { ReceivedRequest } from '../webhooks/hostile-receiver.ts';
import { APPROVAL_CHECKS } from './check-approvals.ts';
import { checkBatches, checkEvents } from './check-batches.ts';
import { COIN_CHECKS } from './check-coins.ts';
import { checkDeliveries } from './check-deliveries.ts';
import { checkPayments, checkSessions, DEPOSIT_CHECKS } from './check-deposits.ts';
import { checkExchanges } from './check-exchanges.ts';
import { QUOTE_CHECKS } from './check-quotes.ts';
import { checkRecipients, RECIPIENT_CHECKS } from './check-recipients.ts';
import { SUBSCRIPTION_CHECKS } from './check-subscriptions.ts';
import { checkTenants } from './check-tenants.ts';
import type { GoodClient } from './good-client.ts';

export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;

/** What was told to anybody outside. */
export interface Heard {
  clients: readonly GoodClient[];
  /** All that the receiver of webhooks got. */
  webhooks: readonly ReceivedRequest[];
  /** Addresses that coins came from which nobody was to pay. */
  strangers: readonly string[];
}

/** What breaks an invariant of docs/faults.md. */
export interface Finding {
  invariant: string;
  what: string;
}

/** A sweep moves coins between addresses of the same merchant: by the id that its item carries on the chain. */
const NO_SWEEP = `not exists (select from transfer s where s.owner_type = 'sweep' and s.transfer_id::text = t.item_id)`;

/**
 * Items and refunds that were paid and coins that left a wallet, by amount: the harness gives every item and every refund
 * of a merchant another amount. A payment to oneself moves nothing out.
 */
const PAID_AND_MOVED = `
  with paid as (
    select merchant_id, network, currency, amount, count(*) as items from (
      select merchant_id, network, currency, amount from payout_item
      join payout_batch using (merchant_id, batch_id, network) where payout_item.status = 'succeeded'
      union all
      select merchant_id, network, currency, amount from refund where status = 'succeeded'
    ) as over group by 1, 2, 3, 4
  ), moved as (
    select t.merchant_id, t.network, t.currency, t.amount, count(*) as transfers
    from simchain.transfer t join simchain.transaction x using (merchant_id, network, tx_id)
    where x.origin = 'wallet' and x.state = 'included' and t.sender <> t.recipient and t.mandate_id is null and ${NO_SWEEP}
    group by 1, 2, 3, 4
  )
  select merchant_id, network, amount::text, coalesce(items, 0)::int as items, coalesce(transfers, 0)::int as transfers
  from paid full join moved using (merchant_id, network, currency, amount)
  where coalesce(items, 0) <> coalesce(transfers, 0) or transfers > 1`;

/** One final attempt at most may have paid a transfer. */
const PAID_TWICE = `
  select t.transfer_id from transfer t
  join transfer_attempt a on a.merchant_id = t.merchant_id and t.transfer_id = any(a.item_ids)
    and a.status = 'succeeded'
  group by t.merchant_id, t.transfer_id having count(*) > 1`;

/** One order at most, and one only once it is sent; what a reorganisation took for good may be ordered again. */
const REFUNDED_TWICE = `
  select r.refund_id, r.status, count(t.transfer_id) as transfers
  from refund r left join transfer t
    on t.merchant_id = r.merchant_id and t.owner_type = 'refund' and t.owner_id = r.refund_id and t.lost_at is null
  where r.lost_at is null or r.status <> 'failed'
  group by r.merchant_id, r.refund_id, r.status
  having count(t.transfer_id) > 1 or (r.status in ('processing', 'succeeded') and count(t.transfer_id) = 0)
    or (r.status = 'canceled' and count(t.transfer_id) > 0)`;

const REFUNDS_WITHOUT_NEWS = `
  with told as (
    select merchant_id, resource, array_agg(type order by sequence) as news from event
    where type in ('refund.succeeded', 'refund.failed') group by 1, 2
  )
  select r.own_id, r.status, t.news
  from refund r left join told t on t.merchant_id = r.merchant_id and t.resource = 'refund/' || r.own_id
  where coalesce(t.news, '{}') <> case
    -- It had succeeded, and was given back once a reorganisation had taken it for good.
    when r.status = 'failed' and r.lost_at is not null then array['refund.succeeded', 'refund.failed']
    when r.status in ('succeeded', 'failed') then array['refund.' || r.status] else '{}'::text[] end`;

/** What a sweep moves is what its deposits brought, and each deposit is in one sweep at most. */
const SWEEPS_THAT_DIFFER = `
  with brought as (
    select merchant_id, sweep_id, sum(amount) as amount from sweep_part group by 1, 2
  )
  select t.merchant_id, t.owner_id, t.amount::text as swept, b.amount::text as brought
  from transfer t left join brought b on b.merchant_id = t.merchant_id and b.sweep_id = t.owner_id
  where t.owner_type = 'sweep' and t.status <> 'failed' and t.lost_at is null and t.amount is distinct from b.amount`;

/** Whatever rows it answers break the invariant. */
export type Statement = readonly [invariant: string, name: string, text: string];

const STATEMENTS: readonly Statement[] = [
  ...Object.entries(LEDGER_CHECKS).map(([name, text]) => ['I1', name, text] as const),
  ['I2', 'items paid and transfers on the chain differ', PAID_AND_MOVED],
  ['I2', 'a transfer has two final attempts', PAID_TWICE],
  ['I2', 'a sweep moves something else than its deposits', SWEEPS_THAT_DIFFER],
  ...DEPOSIT_CHECKS,
  ...SUBSCRIPTION_CHECKS,
  ...APPROVAL_CHECKS,
  ...QUOTE_CHECKS,
  ...RECIPIENT_CHECKS,
  ['I2', 'a refund has two transfers', REFUNDED_TWICE],
  ['I6', 'the end of a refund and its news differ', REFUNDS_WITHOUT_NEWS],
];

// Whoever has loaded the product's driver settings reads int8 as bigint, which JSON has no form for.
const show = (row: object) =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

/** Everything that is wrong with a world in which all work is over. */
export async function findViolations(query: Query, heard: Heard): Promise<Finding[]> {
  const { clients, strangers } = heard;
  const findings: Finding[] = [];
  const judge = async ([invariant, name, text]: Statement, values: unknown[] = []) => {
    for (const row of await query(text, values)) findings.push({ invariant, what: `${name}: ${show(row)}` });
  };
  for (const statement of STATEMENTS) await judge(statement);
  for (const statement of COIN_CHECKS) await judge(statement, [strangers]);
  findings.push(...(await checkEvents(query)), ...(await checkTenants(query, clients)));
  findings.push(...(await checkPayments(query)));
  findings.push(...(await checkDeliveries(query, heard)));
  for (const client of clients) {
    findings.push(...(await checkBatches(query, client)), ...checkExchanges(client));
    findings.push(...(await checkSessions(query, client)), ...(await checkRecipients(query, client)));
  }
  return findings;
}

/** Ledger minus chain over everything, in base units. */
export async function ledgerMinusChain(query: Query): Promise<bigint> {
  const [row] = await query<{ paid: string; moved: string }>(`
    select (select coalesce(sum(case when debit in ('payout_hold', 'refund_hold') then amount else -amount end), 0)
            from ledger_entry
            where debit in ('payout_hold', 'refund_hold') and credit like 'custody_hold:%'
              or credit in ('payout_hold', 'refund_hold') and debit like 'custody_hold:%')::text as paid,
           (select coalesce(sum(t.amount), 0) from simchain.transfer t
            join simchain.transaction x using (merchant_id, network, tx_id)
            where x.origin = 'wallet' and x.state = 'included' and t.sender <> t.recipient and t.mandate_id is null
              and ${NO_SWEEP})::text as moved`);
  return BigInt(row?.paid ?? 0) - BigInt(row?.moved ?? 0);
}
