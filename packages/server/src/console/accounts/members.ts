import { sql } from 'kysely';
import { seizures } from '../../payments/deposits/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { setMayApprove, votes } from '../../stores/approvers/index.ts';
import {
  INSTALLATION_ROLES,
  type InstallationRole,
  mayApprove,
  mayAssign,
  ROLES,
  type Role,
} from '../roles.ts';

export type AnyRole = Role | InstallationRole;

/** A role as typed: of a merchant, or of the installation where the merchant is the nil id. */
export function roleOf(merchantId: string, typed: string): AnyRole {
  const known = merchantId === NIL_ID ? INSTALLATION_ROLES : ROLES;
  const role = known.find((one) => one === typed);
  if (role !== undefined) return role;
  throw new Fail('invalid_request', { message: `The role is one of ${known.join(', ')}.`, param: 'role' });
}

/** Gives a person a role, or takes it away; what they may approve as an approver of the console follows. */
export async function writeRole(
  tx: Tx,
  { merchantId, userId, nowMs }: { merchantId: string; userId: string; nowMs: number },
  role: AnyRole | null,
): Promise<void> {
  if (merchantId === NIL_ID) {
    const installation_role = INSTALLATION_ROLES.find((one) => one === role) ?? null;
    await tx.updateTable('console_user').set({ installation_role }).where('user_id', '=', userId).execute();
    if (installation_role !== 'operator')
      await votes.dropVotes(tx, { action: seizures.SEIZURE_ACTIONS.operators, approverId: userId });
    return;
  }
  const own = ROLES.find((one) => one === role);
  const removedAt = mayApprove(own ?? null) ? null : Math.floor(nowMs / 1000);
  await setMayApprove(tx, { merchantId, userId }, removedAt);
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

/** Of locks on the members of merchants; any number that no other lock of the product uses. */
const LOCK_CLASS = 1_836_409_714;

/**
 * Locks a merchant's members, or the installation's, so that of two changes at once the second sees the first: also where
 * nobody is a member yet, whose rows could not be locked.
 */
export async function lockMembers(tx: Tx, merchantId: string): Promise<Map<string, AnyRole>> {
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}::int, hashtext(${merchantId}::text))`.execute(tx);
  if (merchantId === NIL_ID) {
    const rows = await tx
      .selectFrom('console_user')
      .select(['user_id', 'installation_role'])
      .where('installation_role', 'is not', null)
      .execute();
    return new Map(
      rows.flatMap((row) => (row.installation_role === null ? [] : [[row.user_id, row.installation_role]])),
    );
  }
  const rows = await tx
    .selectFrom('console_membership')
    .select(['user_id', 'role'])
    .where('merchant_id', '=', merchantId)
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

const merchantRole = (role: string | null | undefined): Role | null =>
  ROLES.find((one) => one === role) ?? null;

/** A change of one person's role with a merchant. */
export interface RoleChange {
  merchantId: string;
  userId: string;
  /** The role that they have, or that an unused invitation would give them. */
  before: string | null | undefined;
  after: string | null;
}

/**
 * Whether somebody may make a change, by the roles that they have now. Call it under the lock of the members.
 *
 * @throws Fail `forbidden`
 */
export async function checkMayAssign(
  tx: Tx,
  by: string,
  members: ReadonlyMap<string, AnyRole>,
  { merchantId, userId, before, after }: RoleChange,
): Promise<void> {
  if (by === userId) throw new Fail('forbidden', 'Nobody changes their own role. Ask somebody else who may.');
  // The installation's people are changed from the command line alone.
  if (merchantId === NIL_ID) throw new Fail('forbidden', 'Roles of the installation are not given here.');
  const operator = await tx
    .selectFrom('console_user')
    .select('installation_role')
    .where('user_id', '=', by)
    .forShare()
    .executeTakeFirst();
  const role = merchantRole(members.get(by));
  const installationRole = operator?.installation_role ?? null;
  const hasOwner = [...members.values()].includes('owner');
  const change = { before: merchantRole(before), after: merchantRole(after), hasOwner };
  if (mayAssign({ role, installationRole }, change)) return;
  throw new Fail(
    'forbidden',
    role === null && installationRole === 'operator'
      ? 'This merchant has an owner, and its own people manage its users.'
      : 'Only an owner makes, changes or removes owners and approvers.',
  );
}
