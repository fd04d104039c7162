import { type Insertable, sql, type Updateable } from 'kysely';
import { listOpenInvoices } from '../invoices/billing/index.ts';
import type { Db, Tables, Tx } from '../platform/db/index.ts';
import { prepared, updateRows } from '../platform/db/statements/index.ts';
import { invariant } from '../platform/fail.ts';
import { SUBSCRIPTION } from './columns.ts';
import type { SubscriptionFacts } from './decide/facts.ts';
import type { SubscriptionRow } from './queries.ts';
import { subscriptionColumns } from './rows.ts';
import { SUBSCRIPTION_MOVES } from './states.ts';

type SubscriptionKey = Pick<SubscriptionRow, 'merchant_id' | 'subscription_id'>;

/**
 * Locks subscriptions, in the order of their ids. Lock order of a change: subscriptions, their open invoices, the
 * payments of these, then payment methods.
 */
export const subscriptionsLock = (
  merchantId: string,
  subscriptionIds: readonly string[],
) => prepared<SubscriptionRow>`
  select ${SUBSCRIPTION.list} from subscription
  where merchant_id = ${merchantId} and subscription_id = any(${subscriptionIds}::uuid[])
  order by subscription_id
  for update`;

export async function insertSubscription(
  tx: Tx,
  row: Insertable<Tables['subscription']>,
): Promise<SubscriptionRow> {
  return await tx.insertInto('subscription').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Writes decided changes of a merchant's subscriptions. The caller holds their locks. */
export async function writeFacts(
  tx: Tx,
  changes: readonly { before: SubscriptionRow; facts: SubscriptionFacts }[],
): Promise<void> {
  for (const { before, facts } of changes)
    invariant(
      SUBSCRIPTION_MOVES.leadsTo(before.status, facts.status),
      `a subscription goes from ${before.status} to ${facts.status}`,
    );
  const rows = changes.map(({ before: { merchant_id, subscription_id }, facts }) => ({
    merchant_id,
    subscription_id,
    ...subscriptionColumns(facts),
  }));
  await updateRows(tx, SUBSCRIPTION, rows, ['subscription_id']);
}

/** Writes the columns that decisions do not use. */
export async function writeContent(
  tx: Tx,
  { merchant_id, subscription_id }: SubscriptionKey,
  change: Pick<Updateable<Tables['subscription']>, 'items' | 'pending_items' | 'metadata'>,
): Promise<SubscriptionRow> {
  return await tx
    .updateTable('subscription')
    .set(change)
    .where('merchant_id', '=', merchant_id)
    .where('subscription_id', '=', subscription_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The live subscriptions that are charged to these payment methods. */
export async function listOfMethods(
  db: Db,
  merchantId: string,
  methodIds: readonly string[],
): Promise<SubscriptionRow[]> {
  const { rows } = await prepared<SubscriptionRow>`
    select ${SUBSCRIPTION.list} from subscription
    where merchant_id = ${merchantId} and payment_method_id = any(${methodIds}::uuid[])
      and status in ('incomplete', 'trialing', 'active', 'past_due')`.execute(db);
  return rows;
}

/** Subscriptions that a method is charged for, or was: each takes one of those that its payer has signed for. */
export async function countServed(
  tx: Tx,
  method: { merchant_id: string; payment_method_id: string; customer_id: string },
  except: string | undefined,
): Promise<number> {
  const { merchant_id: merchantId, payment_method_id: methodId, customer_id: customerId } = method;
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select subscription_id from subscription
      where merchant_id = ${merchantId} and payment_method_id = ${methodId}
        and status in ('incomplete', 'trialing', 'active', 'past_due')
      union
      select subscription_id from invoice
      where merchant_id = ${merchantId} and customer_id = ${customerId} and charge_method_id = ${methodId}
        and store_id in (select store_id from store where merchant_id = ${merchantId})
    ) as served
    where subscription_id is distinct from ${except ?? null}::uuid`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Which of these methods a subscription that is not over has. */
export async function listServed(
  tx: Tx,
  merchantId: string,
  methodIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (methodIds.length === 0) return new Set();
  const { rows } = await sql<{ payment_method_id: string }>`
    select distinct payment_method_id from subscription
    where merchant_id = ${merchantId} and payment_method_id = any(${methodIds}::uuid[])
      and status in ('incomplete', 'trialing', 'active', 'past_due')`.execute(tx);
  return new Set(rows.map(({ payment_method_id: id }) => id));
}

/** Whether a charge of an open invoice is due or pending. */
export async function hasTryUnderWay(
  db: Db,
  { merchant_id, subscription_id }: SubscriptionKey,
  now: number,
): Promise<'none' | 'due' | 'sent'> {
  const open = await listOpenInvoices(db, merchant_id, [subscription_id]);
  if (open.some((invoice) => invoice.live_attempt !== null)) return 'sent';
  const isDue = open.some(
    // While money for an invoice's page is pending, the invoice is charged only if that money is not enough.
    ({ next_try_at: at, charges_ended, payment_status: status }) =>
      !charges_ended && status !== 'processing' && at !== null && Number(at) <= now,
  );
  return isDue ? 'due' : 'none';
}
