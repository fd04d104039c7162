import type { Asset, Network } from '@florin/contract/money';
import type { PaymentMethodStatus } from '@florin/contract/schemas';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Mandate } from '../chains/port/index.ts';
import type { Db, Tables, Tx } from '../platform/db/index.ts';
import {
  byCreation,
  type CreatedRange,
  cursorOf,
  madeWithin,
  type Page,
} from '../platform/db/lists/index.ts';
import { rowLoaderPerPool } from '../platform/db/loaders/index.ts';
import { deferred, listed, prepared } from '../platform/db/statements/index.ts';
import { Fail } from '../platform/fail.ts';
import { cursorIdOf, decodeId } from '../tenancy/index.ts';
import type { ChargedWallet } from '../transfers/charges/index.ts';
import { PAYMENT_METHOD } from './columns.ts';
import { METHOD_MOVES } from './states.ts';
import './tables.ts';

const selectMethods = (db: Db, merchantId: string) =>
  db.selectFrom('payment_method').selectAll().where('merchant_id', '=', merchantId);

export type PaymentMethodRow = Selectable<Tables['payment_method']>;
type MethodKey = Pick<PaymentMethodRow, 'merchant_id' | 'payment_method_id'>;

export async function findPaymentMethod(
  db: Db,
  merchantId: string,
  paymentMethodId: string,
): Promise<PaymentMethodRow | undefined> {
  const { rows } = await prepared<PaymentMethodRow>`
    select ${PAYMENT_METHOD.list} from payment_method
    where merchant_id = ${merchantId} and payment_method_id = ${paymentMethodId}`.execute(db);
  return rows[0];
}

const methods = rowLoaderPerPool<PaymentMethodRow>(
  async (db, merchantId, methodIds) => {
    const { rows } = await prepared<PaymentMethodRow>`
      select ${PAYMENT_METHOD.list} from payment_method
      where merchant_id = ${merchantId} and payment_method_id = any(${methodIds}::uuid[])`.execute(db);
    return rows;
  },
  (row) => row.payment_method_id,
);

/** As `findPaymentMethod`, batched for jobs, because many start at once. Do not call it in a transaction. */
export async function readPaymentMethod(
  db: Db,
  merchantId: string,
  paymentMethodId: string,
): Promise<PaymentMethodRow | undefined> {
  return await methods(db).load(merchantId, paymentMethodId);
}

/** @param id the public id. @throws Fail `resource_not_found` */
export async function getPaymentMethod(db: Db, merchantId: string, id: string): Promise<PaymentMethodRow> {
  const paymentMethodId = decodeId('paymentMethod', id);
  const row = paymentMethodId && (await findPaymentMethod(db, merchantId, paymentMethodId));
  if (!row) throw new Fail('resource_not_found', 'There is no such payment method.');
  return row;
}

/** Locks an existing method. Lock order: subscription, invoices, payments, then payment methods. */
export async function lockPaymentMethod(
  tx: Tx,
  merchantId: string,
  paymentMethodId: string,
): Promise<PaymentMethodRow> {
  return await selectMethods(tx, merchantId)
    .where('payment_method_id', '=', paymentMethodId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** Locks methods in the order of their ids, as every transaction that locks several does. */
export async function lockPaymentMethods(
  tx: Tx,
  merchantId: string,
  paymentMethodIds: readonly string[],
): Promise<PaymentMethodRow[]> {
  const { rows } = await prepared<PaymentMethodRow>`
    select ${PAYMENT_METHOD.list} from payment_method
    where merchant_id = ${merchantId} and payment_method_id = any(${paymentMethodIds}::uuid[])
    order by payment_method_id
    for update`.execute(tx);
  return rows;
}

/** The wallet that a method charges. */
export const walletOf = ({
  network,
  wallet_address: address,
  currency,
}: PaymentMethodRow): ChargedWallet => ({
  network,
  address,
  currency,
});

/**
 * Locks all methods of these wallets, in the order of their ids, so that only one transaction at a time decides charges
 * of a wallet. Lock order: subscriptions, invoices, payments, then payment methods.
 */
export function walletsLock(merchantId: string, wallets: readonly ChargedWallet[]) {
  const locked = listed('w', wallets, {
    network: ['text', (w) => w.network],
    address: ['text', (w) => w.address],
    currency: ['text', (w) => w.currency],
  });
  return prepared<PaymentMethodRow>`
    select ${PAYMENT_METHOD.list} from payment_method
    where merchant_id = ${merchantId} and (network, wallet_address, currency) in (
      select * from ${locked}
    )
    order by payment_method_id
    for update`;
}

/** Filters of the list; only `status` of a method changes. */
export interface MethodFilter {
  customerId?: string | undefined;
  status?: PaymentMethodStatus | undefined;
  currency?: Asset | undefined;
  network?: Network | undefined;
  created?: CreatedRange | undefined;
}

/** Methods with what they have for good. */
function lastingMethods(db: Db, merchantId: string, filter: MethodFilter) {
  const { customerId, currency, network, created = {} } = filter;
  let query = selectMethods(db, merchantId);
  if (customerId !== undefined) query = query.where('customer_id', '=', customerId);
  if (currency !== undefined) query = query.where('currency', '=', currency);
  if (network !== undefined) query = query.where('network', '=', network);
  return madeWithin(query, created);
}

/** The statement of the list: one row more than the limit. */
export function methodPage(db: Db, merchantId: string, filter: MethodFilter, page: Page<PaymentMethodRow>) {
  const lasting = lastingMethods(db, merchantId, filter);
  const query = filter.status === undefined ? lasting : lasting.where('status', '=', filter.status);
  return byCreation(query, 'payment_method_id', page);
}

/** One row more than the limit. */
export async function listPaymentMethods(
  db: Db,
  merchantId: string,
  filter: MethodFilter,
  page: Page<string>,
): Promise<PaymentMethodRow[]> {
  const after = await cursorOf(cursorIdOf('paymentMethod', page.after), (id) =>
    lastingMethods(db, merchantId, filter).where('payment_method_id', '=', id).executeTakeFirst(),
  );
  return await methodPage(db, merchantId, filter, { ...page, after }).execute();
}

/** The newest active method of each of these customers; customers without one are absent. */
export async function defaultPaymentMethods(
  db: Db,
  merchantId: string,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ customer_id: string; payment_method_id: string }>`
    select c.customer_id, m.payment_method_id
    from unnest(${customerIds}::uuid[]) as c (customer_id)
    cross join lateral (
      select payment_method_id from payment_method
      where merchant_id = ${merchantId} and customer_id = c.customer_id and status = 'active'
      order by created_at desc, payment_method_id desc limit 1
    ) as m`.execute(db);
  return new Map(rows.map((row) => [row.customer_id, row.payment_method_id]));
}

/** @returns undefined if the merchant already has this mandate */
export async function insertPaymentMethod(
  tx: Tx,
  row: Insertable<Tables['payment_method']>,
): Promise<PaymentMethodRow | undefined> {
  return await tx
    .insertInto('payment_method')
    .values(row)
    .onConflict((conflict) => conflict.columns(['merchant_id', 'network', 'mandate_id']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function findByMandate(
  db: Db,
  merchantId: string,
  { network, mandateId }: { network: Network; mandateId: string },
): Promise<PaymentMethodRow | undefined> {
  return await selectMethods(db, merchantId)
    .where('network', '=', network)
    .where('mandate_id', '=', mandateId)
    .executeTakeFirst();
}

/** How many mandates with that salt a customer's wallets have given since then (seconds of the merchant's clock). */
export async function countMandates(
  db: Db,
  { merchantId, customerId, salt }: { merchantId: string; customerId: string; salt: string },
  since: number,
): Promise<number> {
  const { rows } = await sql<{ given: number }>`
    select count(*)::int as given from payment_method
    where merchant_id = ${merchantId} and customer_id = ${customerId} and salt = ${salt} and created_at > ${since}`.execute(
    db,
  );
  return rows[0]?.given ?? 0;
}

/** Mandates of all merchants that are elsewhere (states.ts), by network; networks without one are absent. */
export async function countElsewhere(db: Db): Promise<ReadonlyMap<Network, number>> {
  const { rows } = await sql<{ network: Network; mandates: number }>`
    select network, count(*)::int as mandates from payment_method
    where elsewhere_since is not null and status <> 'revoked' group by network`.execute(db);
  return new Map(rows.map(({ network, mandates }) => [network, mandates]));
}

export async function updatePaymentMethod(
  db: Db,
  method: MethodKey & Pick<PaymentMethodRow, 'status'>,
  change: Updateable<Tables['payment_method']>,
): Promise<PaymentMethodRow> {
  if (change.status !== undefined) METHOD_MOVES.check(method.status, change.status);
  return await db
    .updateTable('payment_method')
    .set(change)
    .where('merchant_id', '=', method.merchant_id)
    .where('payment_method_id', '=', method.payment_method_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The new state of a method after a reading. */
export type MethodReading = Pick<
  PaymentMethodRow,
  | 'merchant_id'
  | 'payment_method_id'
  | 'status'
  | 'balance'
  | 'allowance'
  | 'read_at'
  | 'next_read_at'
  | 'elsewhere_since'
>;

/** Methods due for reading by the health watch, the longest overdue first. */
export async function listDueForReading(
  db: Db,
  merchantId: string,
  due: { network: Network; now: number; limit: number },
): Promise<PaymentMethodRow[]> {
  const { rows } = await prepared<PaymentMethodRow>`
    select ${PAYMENT_METHOD.list} from payment_method
    where merchant_id = ${merchantId} and network = ${due.network} and next_read_at <= ${due.now}
    order by next_read_at limit ${due.limit}`.execute(db);
  return rows;
}

/** When the next reading is due, Unix seconds of the merchant's clock. */
export async function nextReadingAt(
  db: Db,
  merchantId: string,
  network: Network,
): Promise<number | undefined> {
  const { rows } = await prepared<{ next_read_at: bigint }>`
    select next_read_at from payment_method
    where merchant_id = ${merchantId} and network = ${network} and next_read_at is not null
    order by next_read_at limit 1`.execute(db);
  return rows[0] && Number(rows[0].next_read_at);
}

/** All readable methods of a wallet. They share one balance: money that one spends is gone for the others. */
export async function listOfWallet(
  db: Db,
  merchantId: string,
  wallet: Pick<PaymentMethodRow, 'network' | 'wallet_address' | 'currency'>,
): Promise<PaymentMethodRow[]> {
  return await selectMethods(db, merchantId)
    .where('network', '=', wallet.network)
    .where('wallet_address', '=', wallet.wallet_address)
    .where('currency', '=', wallet.currency)
    .where('next_read_at', 'is not', null)
    .execute();
}

/** Makes the methods of these wallets due for reading. */
export async function hastenReading(
  tx: Tx,
  merchantId: string,
  wallets: Pick<ChargedWallet, 'network' | 'currency'> & { addresses: readonly string[] },
  now: number,
): Promise<void> {
  await deferred`
    update payment_method m set next_read_at = ${now}::bigint
    from (
      select payment_method_id from payment_method
      where merchant_id = ${merchantId} and network = ${wallets.network}
        and wallet_address = any(${wallets.addresses}::text[]) and currency = ${wallets.currency}
        and next_read_at > ${now}::bigint
      order by payment_method_id for update
    ) as own
    where m.merchant_id = ${merchantId} and m.payment_method_id = own.payment_method_id`.execute(tx);
}

/** The mandate in the form of the chain adapter. */
export function mandateOf(row: PaymentMethodRow): Mandate {
  return {
    mandateId: row.mandate_id,
    asset: row.currency,
    payer: row.wallet_address,
    recipient: row.recipient,
    cap: row.cap_amount,
    period: row.interval,
    startsAt: Number(row.starts_at),
    endsAt: row.ends_at === null ? null : Number(row.ends_at),
    ...(row.subscriptions !== null && { subscriptions: row.subscriptions }),
    salt: row.salt,
  };
}
