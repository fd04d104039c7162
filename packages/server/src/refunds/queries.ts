import type { Network } from '@florin/contract/money';
import { REFUND_ID_PATTERN } from '@florin/contract/schemas';
import { type Insertable, sql, type Updateable } from 'kysely';
import type { CauseNames } from '../ledger/index.ts';
import type { TransferKey } from '../payments/books/index.ts';
import { lockPayment, type PaymentView } from '../payments/reads/index.ts';
import { addWithin, takeBack } from '../platform/db/guards/index.ts';
import type { Db, Tables, Tx } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { REFUND_MOVES } from './states.ts';
import './tables.ts';

const OWN_ID_FORM = new RegExp(REFUND_ID_PATTERN);

const selectRefund = (db: Db, merchantId: string) =>
  db.selectFrom('refund').selectAll().where('merchant_id', '=', merchantId);

export type RefundRow = NonNullable<Awaited<ReturnType<ReturnType<typeof selectRefund>['executeTakeFirst']>>>;

/** @throws Fail `resource_not_found`; `forbidden` for a refund of another store of the merchant */
export async function getRefund(
  db: Db,
  { merchantId, storeId }: { merchantId: string; storeId: string },
  ownId: string,
): Promise<RefundRow> {
  const row = OWN_ID_FORM.test(ownId)
    ? await selectRefund(db, merchantId).where('own_id', '=', ownId).executeTakeFirst()
    : undefined;
  if (row === undefined) throw new Fail('resource_not_found', 'There is no such refund.');
  if (row.store_id !== storeId) throw new Fail('forbidden', 'This belongs to another store of the merchant.');
  return row;
}

export async function findRefund(
  db: Db,
  merchantId: string,
  refundId: string,
): Promise<RefundRow | undefined> {
  return await selectRefund(db, merchantId).where('refund_id', '=', refundId).executeTakeFirst();
}

/** A refund and its payment, under the payment's lock. */
export interface LockedRefund {
  refund: RefundRow;
  view: PaymentView;
}

/** Locks the refund's payment and reads both. Every change of a refund begins with this lock. */
export async function lockRefund(tx: Tx, merchantId: string, refundId: string): Promise<LockedRefund> {
  const known = await findRefund(tx, merchantId, refundId);
  if (known === undefined) throw new Error(`there is no refund ${refundId}`);
  const view = await lockPayment(tx, merchantId, known.payment_id);
  // Read again, since it may have changed while waiting for the lock.
  const refund = await selectRefund(tx, merchantId)
    .where('refund_id', '=', refundId)
    .executeTakeFirstOrThrow();
  return { refund, view };
}

/**
 * Refunds of the same money (one transfer, or the payment's own: null) with an address, paid or under way. Whoever decides by
 * them holds the payment's lock.
 */
export async function listReturned(
  db: Db,
  payment: { merchant_id: string; payment_id: string },
  transfer: TransferKey | null,
): Promise<{ address: string; amount: bigint }[]> {
  return await db
    .selectFrom('refund')
    .select(['address', 'amount'])
    .where('merchant_id', '=', payment.merchant_id)
    .where('payment_id', '=', payment.payment_id)
    .where('source_tx_id', 'is not distinct from', transfer?.txId ?? null)
    .where('source_index', 'is not distinct from', transfer?.index ?? null)
    .where('status', 'in', ['pending', 'processing', 'succeeded'])
    .where('address', 'is not', null)
    .$narrowType<{ address: string }>()
    .execute();
}

export async function insertRefund(tx: Tx, row: Insertable<Tables['refund']>): Promise<RefundRow> {
  return await tx.insertInto('refund').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function updateRefund(
  tx: Tx,
  refund: Pick<RefundRow, 'merchant_id' | 'refund_id' | 'status'>,
  change: Updateable<Tables['refund']>,
): Promise<RefundRow> {
  if (change.status !== undefined) REFUND_MOVES.check(refund.status, change.status);
  return await tx
    .updateTable('refund')
    .set(change)
    .where('merchant_id', '=', refund.merchant_id)
    .where('refund_id', '=', refund.refund_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export const DAY_SECONDS = 86_400;

type Counted = Pick<RefundRow, 'merchant_id' | 'store_id' | 'day' | 'amount'>;

const quotaOf = ({ merchant_id, store_id, day }: Counted) =>
  ({ table: 'refund_quota', key: { merchant_id, store_id, day } }) as const;

/** Counts a refund against the store's daily limit. @returns false: it is exceeded */
export async function reserveQuota(tx: Tx, refund: Counted, limit: bigint): Promise<boolean> {
  return await addWithin(tx, quotaOf(refund), refund.amount, limit);
}

/** What a person has refunded of a store in a day, signed in; canceled and failed refunds do not count. */
export async function refundedBy(
  tx: Tx,
  { merchant_id: merchantId, store_id: storeId, day }: Counted,
  userId: string,
): Promise<bigint> {
  const { rows } = await sql<{ amount: string }>`
    select coalesce(sum(amount), 0)::text as amount from refund
    where merchant_id = ${merchantId} and store_id = ${storeId}
      and created_at >= ${day * DAY_SECONDS} and created_at < ${(day + 1) * DAY_SECONDS}
      and made_by_user = ${userId} and status not in ('failed', 'canceled')`.execute(tx);
  return BigInt(rows[0]?.amount ?? 0);
}

/** Canceled and failed refunds no longer count. */
export async function releaseQuota(tx: Tx, refund: Counted): Promise<void> {
  await takeBack(tx, quotaOf(refund), refund.amount);
}

export interface ShortRefunds {
  network: Network;
  count: number;
  /** Seconds of the merchants' clocks. */
  oldestSince: number;
}

/** Refunds that wait for coins, per network, over all merchants. */
export async function shortRefunds(db: Db): Promise<ShortRefunds[]> {
  const { rows } = await sql<{ network: Network; count: bigint; oldest: bigint }>`
    select network, count(*) as count, min(short_since) as oldest from refund
    where status = 'pending' and short_since is not null group by network`.execute(db);
  return rows.map(({ network, count, oldest }) => ({
    network,
    count: Number(count),
    oldestSince: Number(oldest),
  }));
}

/** Ledger entries show refunds by their merchant's `refund_id`. */
export const refundNames: CauseNames = {
  namesOf: async (db, merchantId, ids) => {
    const rows = await db
      .selectFrom('refund')
      .select(['refund_id', 'own_id'])
      .where('merchant_id', '=', merchantId)
      .where('refund_id', 'in', ids)
      .execute();
    return new Map(rows.map((row) => [row.refund_id, row.own_id]));
  },
  findByName: async (db, merchantId, name) =>
    (await selectRefund(db, merchantId).where('own_id', '=', name).executeTakeFirst())?.refund_id,
};
