import type { Network } from '@florin/contract/money';
import type { PaymentException, PaymentQuery, PaymentStatus } from '@florin/contract/schemas';
import { sql } from 'kysely';
import { storedAddress, storedTxId } from '../../chains/addresses/index.ts';
import type { Db } from '../../platform/db/index.ts';
import type { CreatedRange } from '../../platform/db/lists/index.ts';
import { byCreation, createdRange, cursorOf, madeWithin, type Page } from '../../platform/db/lists/index.ts';
import { invalidParam } from '../../platform/fail.ts';
import { checkStoreFilter, type Owner } from '../../tenancy/index.ts';
import type { PaymentRow } from './queries.ts';
import '../tables.ts';

/** What a listed payment has for good; its cursors are compared with these. */
interface LastingFilter {
  /** Payments of sessions alone, in the order of the sessions. */
  ofSessions?: boolean | undefined;
  customer?: string | undefined;
  orderId?: string | undefined;
  currency?: string | undefined;
  /** One of its addresses, as it is stored. */
  address?: string | undefined;
  /** A transaction that paid it, as it is stored. */
  tx?: { id: string; index?: number | undefined } | undefined;
  created?: CreatedRange | undefined;
}

/** Filters of a list of payments, by a store's own rows. */
export interface PaymentFilter extends LastingFilter {
  status?: PaymentStatus | undefined;
  network?: Network | undefined;
  exception?: PaymentException | undefined;
}

type PaymentListQuery = Omit<PaymentQuery, 'limit' | 'status'> & { status?: PaymentStatus | undefined };

/** Exceptions that no payment of a status has. */
const NEVER: Partial<Record<PaymentStatus, readonly PaymentException[]>> = {
  failed: ['underpaid', 'overpaid', 'late', 'wrong_token', 'canceled'],
  pending: ['canceled'],
};

/** @throws Fail `forbidden`; `invalid_request` for filters that contradict each other */
export function readPaymentFilter(query: PaymentListQuery, owner: Owner): PaymentFilter {
  const { status, exception, network, customer, order_id: orderId, currency } = query;
  checkStoreFilter(query.store, owner);
  if (status !== undefined && exception !== undefined && NEVER[status]?.includes(exception))
    throw invalidParam('exception', `A ${status} payment is never ${exception}.`);
  return {
    status,
    exception,
    network,
    customer,
    orderId,
    currency,
    address: query.address === undefined ? undefined : addressOf(query.address, network),
    tx: query.tx_id === undefined ? undefined : transactionOf(query.tx_id, network),
    created: createdRange(query),
  };
}

function addressOf(text: string, network: Network | undefined): string {
  const stored = storedAddress(text, network);
  if (stored === undefined && network !== undefined)
    throw invalidParam('address', `This is no address on ${network}.`);
  // What is no address of any network belongs to no payment.
  return stored ?? text;
}

function transactionOf(text: string, network: Network | undefined): { id: string; index?: number } {
  const [, name = text, index] = /^(.+):(\d{1,9})$/.exec(text) ?? [];
  const id = storedTxId(name, network);
  if (id === undefined && network !== undefined)
    throw invalidParam('tx_id', `This is no transaction id on ${network}.`);
  return { id: id ?? name, ...(index === undefined ? {} : { index: Number(index) }) };
}

/** Payments of a store with what they have for good. */
function lastingPayments(db: Db, { merchantId, storeId }: Owner, filter: LastingFilter) {
  const { ofSessions = false, customer, orderId, currency, address, tx } = filter;
  let query = db
    .selectFrom('payment')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('store_id', '=', storeId);
  if (ofSessions) query = query.where('session_id', 'is not', null);
  if (customer !== undefined) query = query.where('customer', '=', customer);
  if (orderId !== undefined) query = query.where('order_id', '=', orderId);
  if (currency !== undefined) query = query.where('currency', '=', currency);
  // The few payments are found first: a join could be planned as a walk through the whole list.
  if (address !== undefined) {
    const found = sql`select payment_id from payment_option where merchant_id = ${merchantId}
      and network in ('erc20', 'trc20', 'spl') and address = ${address} and watch is not null`;
    query = query.where('payment_id', '=', sql<string>`any(array(${found}))`);
  }
  if (tx !== undefined) {
    const found = sql`select payment_id from payment_transaction where merchant_id = ${merchantId}
      and network in ('erc20', 'trc20', 'spl') and tx_id = ${tx.id}`;
    const exact = tx.index === undefined ? found : sql`${found} and index = ${tx.index}`;
    query = query.where('payment_id', '=', sql<string>`any(array(${exact}))`);
  }
  return madeWithin(query, filter.created ?? {});
}

/**
 * The statement of a list: one row more than the limit, by an index for each filter. Several filters read along the index of
 * one of them.
 */
export function paymentPage(
  db: Db,
  owner: Owner,
  { status, network, exception, ...filter }: PaymentFilter,
  page: Page<PaymentRow>,
) {
  let query = lastingPayments(db, owner, filter);
  if (status !== undefined) query = query.where('status', '=', status);
  if (network !== undefined)
    query = query.where(sql<boolean>`coalesce(fixed_network, chosen_network) = ${network}`);
  // Written out, as the index of each exception holds the payments that have it.
  if (exception !== undefined)
    query = query.where(sql<boolean>`exceptions @> ${sql.lit(`["${exception}"]`)}::jsonb`);
  const idColumn = filter.ofSessions ? 'session_id' : 'payment_id';
  return byCreation(query, idColumn, page);
}

/**
 * Reads a page of a list of payments; one row more than the limit.
 *
 * @param after a payment's UUID; a payment may have left the list meanwhile by a change, but must have been of it
 * @param ofSessions payments of sessions alone, in the order of the sessions
 * @throws Fail `invalid_request` for a cursor that is of another list
 */
export async function listPayments(
  db: Db,
  owner: Owner,
  query: PaymentListQuery,
  { after: id, ofSessions, ...page }: Page<string> & { ofSessions?: boolean },
): Promise<PaymentRow[]> {
  const filter = { ...readPaymentFilter(query, owner), ofSessions };
  const after = await cursorOf(id, (paymentId) =>
    lastingPayments(db, owner, filter).where('payment_id', '=', paymentId).executeTakeFirst(),
  );
  return await paymentPage(db, owner, filter, { ...page, after }).execute();
}
