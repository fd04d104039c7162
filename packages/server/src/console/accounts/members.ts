import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { INSTALLATION_ROLES, type InstallationRole, ROLES, type Role } from '../roles.ts';

export type AnyRole = Role | InstallationRole;

/** A role as typed: of a merchant, or of the installation where the merchant is the nil id. */
export function roleOf(merchantId: string, typed: string): AnyRole {
  const known = merchantId === NIL_ID ? INSTALLATION_ROLES : ROLES;
  const role = known.find((one) => one === typed);
  if (role !== undefined) return role;
  throw new Fail('invalid_request', { message: `The role is one of ${known.join(', ')}.`, param: 'role' });
}

/** Gives a person a role, or takes it away. */
export async function writeRole(
  tx: Tx,
  { merchantId, userId, nowMs }: { merchantId: string; userId: string; nowMs: number },
  role: AnyRole | null,
): Promise<void> {
  if (merchantId === NIL_ID) {
    const installation_role = INSTALLATION_ROLES.find((one) => one === role) ?? null;
    await tx.updateTable('console_user').set({ installation_role }).where('user_id', '=', userId).execute();
    return;
  }
  const own = ROLES.find((one) => one === role);
  if (own === undefined) {
    await tx
      .deleteFrom('console_membership')
      .where('merchant_id', '=', merchantId)
      .where('user_id', '=', userId)
      .execute();
    return;
  }
  await tx
    .insertInto('console_membership')
    .values({ merchant_id: merchantId, user_id: userId, role: own, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.columns(['merchant_id', 'user_id']).doUpdateSet({ role: own }))
    .execute();
}

/** Locks a merchant's members, or the installation's, so that of two who leave at once one sees the other. */
export async function lockMembers(tx: Tx, merchantId: string): Promise<Map<string, AnyRole>> {
  if (merchantId === NIL_ID) {
    const rows = await tx
      .selectFrom('console_user')
      .select(['user_id', 'installation_role'])
      .where('installation_role', 'is not', null)
      .orderBy('user_id')
      .forUpdate()
      .execute();
    return new Map(
      rows.flatMap((row) => (row.installation_role === null ? [] : [[row.user_id, row.installation_role]])),
    );
  }
  const rows = await tx
    .selectFrom('console_membership')
    .select(['user_id', 'role'])
    .where('merchant_id', '=', merchantId)
    .orderBy('user_id')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.user_id, row.role]));
}

/** Whether the change of one person's role would leave a merchant without an owner. */
export function leavesNoOwner(
  members: ReadonlyMap<string, AnyRole>,
  userId: string,
  role: AnyRole | null,
): boolean {
  if (members.get(userId) !== 'owner' || role === 'owner') return false;
  return [...members.values()].filter((one) => one === 'owner').length === 1;
}
