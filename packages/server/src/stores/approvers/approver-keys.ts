import type { Db } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import type { Platform } from '../../platform/platform.ts';
import { findApproverByName } from '../queries.ts';

const KEY_INDEX = 'approver_public_key';

/** Whether a statement failed as another approver has the key. */
export const isKeyTaken = (error: unknown) =>
  error instanceof Error && 'constraint' in error && error.constraint === KEY_INDEX;
export const refuseKey = () =>
  new Fail('invalid_request', { message: 'Another approver has this key.', param: 'key' });

/** Gives an approver another key. What was signed with the one before counts no more. @returns false: there is none */
export async function setApproverKey(
  platform: Platform,
  merchantId: string,
  { name, publicKey }: { name: string; publicKey: string },
): Promise<boolean> {
  try {
    const { numUpdatedRows } = await platform.db
      .updateTable('approver')
      .set({ public_key: publicKey })
      .where('merchant_id', '=', merchantId)
      .where('name', '=', name)
      .where('removed_at', 'is', null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  } catch (error) {
    throw isKeyTaken(error) ? refuseKey() : error;
  }
}

/**
 * Finds the approver whose signature is given; the signature is what identifies them.
 *
 * @throws Fail `invalid_request` with param `approver`
 */
export async function findSigningApprover(db: Db, merchantId: string, name: string) {
  const approver = await findApproverByName(db, merchantId, name);
  if (approver !== undefined)
    return { approverId: approver.approver_id, name, publicKey: approver.public_key };
  const message = `${name} is no registered approver of this merchant.`;
  throw new Fail('invalid_request', { message, param: 'approver' });
}
