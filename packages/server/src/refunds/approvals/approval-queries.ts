import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { findAlike, type PaidAddress } from '../../transfers/recipients/index.ts';
import { APPROVAL_WAITS_SECONDS } from '../jobs.ts';
import type { RefundRow } from '../queries.ts';
import '../tables.ts';

/**
 * Sums a merchant's refunds without approval after a time of its clock, over all tokens and stores, each counted from when
 * its address was known. Failed and canceled refunds do not count.
 */
export async function unapprovedRefunds(tx: Tx, merchantId: string, after: number): Promise<bigint> {
  const { rows } = await sql<{ amount: string }>`
    select coalesce(sum(amount), 0)::text as amount from refund
    where merchant_id = ${merchantId} and addressed_at > ${after}
      and required_approvals = 0 and status not in ('failed', 'canceled')`.execute(tx);
  return BigInt(rows[0]?.amount ?? 0);
}

/** Sum of refunds without signatures for a signer that wants some, and that are not decided yet, over all merchants. */
export async function unsignedRefunds(tx: Tx): Promise<bigint> {
  const { rows } = await sql<{ amount: string }>`
    select coalesce(sum(amount), 0)::text as amount from refund
    where required_signatures = 0 and status in ('pending', 'processing')`.execute(tx);
  return BigInt(rows[0]?.amount ?? 0);
}

/** Refunds that wait for approval, oldest first, of one merchant or of all. */
export async function listAwaitingApproval(
  db: Db,
  merchantId: string | undefined,
  limit: number,
): Promise<RefundRow[]> {
  const waiting = db
    .selectFrom('refund')
    .selectAll()
    .where('status', '=', 'pending')
    .where('address', 'is not', null)
    .where('required_approvals', '>', 0)
    .where('approved_at', 'is', null)
    .orderBy('addressed_at')
    .orderBy('refund_id')
    .limit(limit);
  return await (merchantId === undefined ? waiting : waiting.where('merchant_id', '=', merchantId)).execute();
}

/** When a refund that waits for approval is canceled, unless it is approved. */
export const approvalEndsAt = ({ addressed_at: addressedAt }: Pick<RefundRow, 'addressed_at'>): number =>
  Number(addressedAt) + APPROVAL_WAITS_SECONDS;

/** Refunds that people have signed and that are not paid yet, oldest first. */
export async function listSignedRefunds(db: Db, merchantId: string, limit: number): Promise<RefundRow[]> {
  return await db
    .selectFrom('refund')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .where('status', 'in', ['pending', 'processing'])
    .where('approved_at', 'is not', null)
    .where('required_signatures', '>', 0)
    .orderBy('addressed_at')
    .orderBy('refund_id')
    .limit(limit)
    .execute();
}

/** Addresses that a merchant's refunds have paid, of those that look so. @param looks by `lookOf` */
export async function listRefundedAlike(
  db: Db,
  merchantId: string,
  network: RefundRow['network'],
  looks: readonly string[],
): Promise<PaidAddress[]> {
  const isApproved = sql`exists (
    select from refund
    where merchant_id = ${merchantId} and network = ${network} and status = 'succeeded' and required_approvals > 0
      and lower(left(replace(address, '0x', ''), 4) || right(address, 4)) = alike.look and address = alike.address)`;
  return await findAlike(db, { merchantId, network, looks }, { payments: sql`refund`, isApproved });
}

/**
 * Finds a refund by the merchant's own `refund_id`, for operators' commands.
 *
 * @param merchantId needed if several merchants use the same id
 * @throws Fail `resource_not_found`; `invalid_request` with param `merchant`
 */
export async function findByOwnId(
  db: Db,
  ownId: string,
  merchantId: string | undefined,
): Promise<{ merchantId: string; refundId: string }> {
  const named = db.selectFrom('refund').select(['merchant_id', 'refund_id']).where('own_id', '=', ownId);
  const of = merchantId === undefined ? named : named.where('merchant_id', '=', merchantId);
  const [only, other] = await of.limit(2).execute();
  if (only === undefined) throw new Fail('resource_not_found', `There is no refund ${ownId}.`);
  if (other === undefined) return { merchantId: only.merchant_id, refundId: only.refund_id };
  const message = `Several merchants have a refund ${ownId}: name one with --merchant.`;
  throw new Fail('invalid_request', { message, param: 'merchant' });
}

/** The number of refunds that wait for approval, over all merchants. */
export async function countAwaitingApproval(db: Db): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from refund
    where status = 'pending' and address is not null and required_approvals > 0 and approved_at is null`.execute(
    db,
  );
  return Number(rows[0]?.count ?? 0);
}
