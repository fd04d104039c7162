import { timingSafeEqual } from 'node:crypto';
import { codeOf } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import { newId } from '../platform/ids.ts';
import type { Platform } from '../platform/platform.ts';
import { checkName } from './create-merchant.ts';
import { digestOf, makeApproverToken } from './credentials.ts';
import { findApproverByName, getMerchant } from './queries.ts';

const UNIQUE_VIOLATION = '23505';

/**
 * Registers a person who may approve payouts. A name that was registered before is the same person again, under the
 * same id: what that person has approved, and the keys they own, still count as theirs.
 *
 * @returns the token, shown once; only its digest is kept
 */
export async function addApprover(platform: Platform, merchantId: string, typed: string): Promise<string> {
  const merchant = await getMerchant(platform.db, merchantId);
  const name = checkName(typed, 'name');
  const token = makeApproverToken();
  const approver = { name, token_digest: digestOf(token), removed_at: null };
  try {
    if (await takeBack(platform, merchantId, approver)) return token;
    const createdAt = platform.clock.nowSeconds() + merchant.clockOffset;
    await platform.db
      .insertInto('approver')
      .values({ ...approver, merchant_id: merchantId, approver_id: newId(), created_at: createdAt })
      .execute();
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    throw new Fail('invalid_request', { message: `${name} is an approver already.`, param: 'name' });
  }
  return token;
}

/** @returns false where nobody of that name was removed */
async function takeBack(
  platform: Platform,
  merchantId: string,
  approver: { name: string; token_digest: Buffer; removed_at: null },
): Promise<boolean> {
  const { numUpdatedRows } = await platform.db
    .updateTable('approver')
    .set(approver)
    .where('merchant_id', '=', merchantId)
    .where('name', '=', approver.name)
    .where('removed_at', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The row stays: approvals point to it, and the name stays this person's. */
export async function removeApprover(platform: Platform, merchantId: string, name: string): Promise<void> {
  const approver = await findApproverByName(platform.db, merchantId, name);
  if (approver === undefined) throw new Fail('resource_not_found', `There is no approver ${name}.`);
  await platform.db
    .updateTable('approver')
    .set({ removed_at: platform.clock.nowSeconds() })
    .where('merchant_id', '=', merchantId)
    .where('approver_id', '=', approver.approver_id)
    .execute();
}

export async function listApprovers(platform: Platform, merchantId: string) {
  return await platform.db
    .selectFrom('approver')
    .select(['approver_id', 'name', 'created_at'])
    .where('merchant_id', '=', merchantId)
    .where('removed_at', 'is', null)
    .orderBy('name')
    .execute();
}

/** Who approves: name and token together. @throws Fail `forbidden` with one text for both being wrong */
export async function identifyApprover(
  platform: Platform,
  merchantId: string,
  credentials: { name: string; token: string },
): Promise<{ approverId: string; name: string }> {
  const approver = await findApproverByName(platform.db, merchantId, credentials.name);
  const given = digestOf(credentials.token);
  const right = timingSafeEqual(given, approver?.token_digest ?? digestOf(''));
  if (approver !== undefined && right) return { approverId: approver.approver_id, name: approver.name };
  throw new Fail(
    'forbidden',
    'The name and the token do not belong to a registered approver of this merchant.',
  );
}
