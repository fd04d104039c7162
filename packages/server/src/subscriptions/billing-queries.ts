import { type Insertable, sql, type Updateable } from 'kysely';
import { listOpenInvoices } from '../invoices/index.ts';
import type { Db, Tables, Tx } from '../platform/db.ts';
import type { SubscriptionRow } from './queries.ts';

type SubscriptionKey = Pick<SubscriptionRow, 'merchant_id' | 'subscription_id'>;

/** First of all locks of a change: its open invoices, their payments and a mandate follow, in this order. */
export async function lockSubscription(
  tx: Tx,
  merchantId: string,
  subscriptionId: string,
): Promise<SubscriptionRow> {
  return await tx
    .selectFrom('subscription')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('subscription_id', '=', subscriptionId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

export async function insertSubscription(
  tx: Tx,
  row: Insertable<Tables['subscription']>,
): Promise<SubscriptionRow> {
  return await tx.insertInto('subscription').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function updateSubscriptionRow(
  tx: Tx,
  { merchant_id, subscription_id }: SubscriptionKey,
  change: Updateable<Tables['subscription']>,
): Promise<SubscriptionRow> {
  return await tx
    .updateTable('subscription')
    .set(change)
    .where('merchant_id', '=', merchant_id)
    .where('subscription_id', '=', subscription_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

const LIVE = sql<boolean>`status in ('incomplete', 'trialing', 'active', 'past_due')`;

/** The live ones that are charged to a payment method. */
export async function listOfMethods(
  db: Db,
  merchantId: string,
  methodIds: readonly string[],
): Promise<SubscriptionRow[]> {
  return await db
    .selectFrom('subscription')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('payment_method_id', '=', sql<string>`any(${methodIds}::uuid[])`)
    .where(LIVE)
    .execute();
}

/** Whether an open invoice is about to be charged, or is being charged. */
export async function hasTryUnderWay(
  db: Db,
  { merchant_id, subscription_id }: SubscriptionKey,
  now: number,
): Promise<'none' | 'due' | 'sent'> {
  const open = await listOpenInvoices(db, merchant_id, [subscription_id]);
  if (open.some((invoice) => invoice.live_attempt !== null)) return 'sent';
  const isDue = open.some(
    ({ next_try_at: at, charges_ended }) => !charges_ended && at !== null && Number(at) <= now,
  );
  return isDue ? 'due' : 'none';
}
