import type { Asset, Network } from '@florin/contract/money';
import { REFUND_ID_PATTERN, type RefundQuery, type RefundStatus } from '@florin/contract/schemas';
import { sql } from 'kysely';
import { storedAddress, storedTxId } from '../chains/addresses/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import type { Db } from '../platform/db/index.ts';
import type { CreatedRange } from '../platform/db/lists/index.ts';
import { byCreation, createdRange, cursorOf, madeWithin, type Page } from '../platform/db/lists/index.ts';
import { invalidParam } from '../platform/fail.ts';
import { checkStoreFilter, decodeId, type Owner } from '../tenancy/index.ts';
import type { RefundRow } from './queries.ts';
import './tables.ts';

/** What a listed refund has for good, but for the address that a payer has yet to name. */
interface LastingFilter {
  paymentId?: string | undefined;
  currency?: Asset | undefined;
  network?: Network | undefined;
  /** The spellings of an address, as refunds show it in the one that was given. */
  addresses?: readonly string[] | undefined;
  created?: CreatedRange | undefined;
}

export interface RefundFilter extends LastingFilter {
  status?: RefundStatus | undefined;
  txId?: string | undefined;
}

const OWN_ID_FORM = new RegExp(REFUND_ID_PATTERN);

/** @throws Fail `forbidden`; `invalid_request` for filters that contradict each other */
export function readRefundFilter(query: RefundQuery, owner: Owner): RefundFilter {
  const { status, currency, network, address, tx_id: text, payment_id: payment } = query;
  checkStoreFilter(query.store, owner);
  const stored = address && storedAddress(address, network);
  if (address !== undefined && stored === undefined && network !== undefined)
    throw invalidParam('address', `This is no address on ${network}.`);
  const txId = text && storedTxId(text, network);
  if (text !== undefined && txId === undefined && network !== undefined)
    throw invalidParam('tx_id', `This is no transaction id on ${network}.`);
  if (text !== undefined && (status === 'pending' || status === 'canceled'))
    throw invalidParam('tx_id', `A ${status} refund was paid out by no transaction.`);
  const isHex = stored?.startsWith('0x') ?? false;
  const spellings = [address, stored, isHex ? stored?.toLowerCase() : undefined].flatMap((one) => one ?? []);
  return {
    status,
    // What is no id of a payment is an id of none.
    paymentId: payment === undefined ? undefined : (decodeId('payment', payment) ?? NIL_ID),
    currency,
    network,
    addresses: address === undefined ? undefined : [...new Set(spellings)],
    txId: txId ?? text,
    created: createdRange(query),
  };
}

function lastingRefunds(db: Db, { merchantId, storeId }: Owner, filter: LastingFilter) {
  const { paymentId, currency, network, addresses, created = {} } = filter;
  let query = db
    .selectFrom('refund')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('store_id', '=', storeId);
  if (paymentId !== undefined) query = query.where('payment_id', '=', paymentId);
  if (currency !== undefined) query = query.where('currency', '=', currency);
  if (network !== undefined) query = query.where('network', '=', network);
  if (addresses !== undefined) query = query.where('address', '=', sql<string>`any(${addresses}::text[])`);
  return madeWithin(query, created);
}

/** The statement of the list: one row more than the limit. */
export function refundPage(
  db: Db,
  owner: Owner,
  { status, txId, ...filter }: RefundFilter,
  page: Page<RefundRow>,
) {
  let query = lastingRefunds(db, owner, filter);
  if (status !== undefined) query = query.where('status', '=', status);
  if (txId !== undefined) query = query.where('tx_id', '=', txId);
  return byCreation(query, 'refund_id', page);
}

/** @param after a refund by its merchant's own id. @throws Fail `invalid_request` for a cursor of another list */
export async function listRefunds(
  db: Db,
  owner: Owner,
  filter: RefundFilter,
  page: Page<string>,
): Promise<RefundRow[]> {
  const after = await cursorOf(page.after, async (id) =>
    OWN_ID_FORM.test(id)
      ? await lastingRefunds(db, owner, filter).where('own_id', '=', id).executeTakeFirst()
      : undefined,
  );
  return await refundPage(db, owner, filter, { ...page, after }).execute();
}
