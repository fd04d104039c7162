import { sql } from 'kysely';
import { seizures } from '../../payments/deposits/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { setMayApprove, votes } from '../../stores/approvers/index.ts';
import {
  BUILT_IN,
  INSTALLATION_ROLES,
  mayApprove,
  mayAssign,
  OWNER,
  type Role,
  roleNamed,
} from '../roles.ts';
import { endIdleSessions } from './sessions.ts';

/** The roles that merchants have made for themselves, each merchant's by name. */
export async function ownRolesOf(db: Db, merchantIds: readonly string[]): Promise<Map<string, Role[]>> {
  if (merchantIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('console_role')
    .select(['merchant_id', 'name', 'permissions'])
    .where('merchant_id', 'in', merchantIds)
    .orderBy('name')
    .execute();
  const byMerchant = Map.groupBy(rows, (row) => row.merchant_id);
  return new Map(
    [...byMerchant].map(([id, own]) => [id, own.map((row) => roleNamed(row.name, row.permissions))]),
  );
}

/** The roles that one merchant has made for itself, by name. */
export const readOwnRoles = async (db: Db, merchantId: string): Promise<Role[]> =>
  (await ownRolesOf(db, [merchantId])).get(merchantId) ?? [];

/**
 * A role as typed: of a merchant, or of the installation where the merchant is the nil id. Call it under the lock of the
 * members, so that nobody deletes it meanwhile.
 *
 * @throws Fail `invalid_request`
 */
export async function roleOf(tx: Tx, merchantId: string, typed: string): Promise<Role> {
  const known =
    merchantId === NIL_ID
      ? INSTALLATION_ROLES.map((name) => roleNamed(name, null))
      : [...BUILT_IN.values(), ...(await readOwnRoles(tx, merchantId))];
  const role = known.find(({ name }) => name === typed);
  if (role !== undefined) return role;
  const names = known.map(({ name }) => name).join(', ');
  throw new Fail('invalid_request', { message: `The role is one of ${names}.`, param: 'role' });
}

/** Gives a person a role, or takes it away; what they may approve as an approver of the console follows. */
export async function writeRole(
  tx: Tx,
  { merchantId, userId, nowMs }: { merchantId: string; userId: string; nowMs: number },
  role: Role | null,
): Promise<void> {
  if (merchantId === NIL_ID) {
    const installation_role = INSTALLATION_ROLES.find((one) => one === role?.name) ?? null;
    await tx.updateTable('console_user').set({ installation_role }).where('user_id', '=', userId).execute();
    if (installation_role !== 'operator')
      await votes.dropVotes(tx, { action: seizures.SEIZURE_ACTIONS.operators, approverId: userId });
    return;
  }
  await applyRole(tx, { merchantId, userId, nowMs }, role);
  if (role === null) {
    await tx
      .deleteFrom('console_membership')
      .where('merchant_id', '=', merchantId)
      .where('user_id', '=', userId)
      .execute();
    return;
  }
  const { name } = role;
  await tx
    .insertInto('console_membership')
    .values({ merchant_id: merchantId, user_id: userId, role: name, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.columns(['merchant_id', 'user_id']).doUpdateSet({ role: name }))
    .execute();
}

/**
 * What follows from what a person's role permits now. As an approver of the console they approve while it says so. A session
 * that was idle for too long for a role that moves money stays ended, whatever their next role permits.
 */
export async function applyRole(
  tx: Tx,
  { merchantId, userId, nowMs }: { merchantId: string; userId: string; nowMs: number },
  role: Role | null,
): Promise<void> {
  const removedAt = mayApprove(role) ? null : Math.floor(nowMs / 1000);
  await setMayApprove(tx, { merchantId, userId }, removedAt);
  await endIdleSessions(tx, userId, nowMs);
}

/** Of locks on the members of merchants; any number that no other lock of the product uses. */
const LOCK_CLASS = 1_836_409_714;

/** Who has a role, by the id of the user. */
export type Members = ReadonlyMap<string, Role>;

/** Who has a role with a merchant, or with the nil id one of the installation. */
export async function readMembers(tx: Tx, merchantId: string): Promise<Members> {
  if (merchantId === NIL_ID) {
    const rows = await tx
      .selectFrom('console_user')
      .select(['user_id', 'installation_role'])
      .where('installation_role', 'is not', null)
      .execute();
    return new Map(
      rows.flatMap(({ user_id: userId, installation_role: name }) =>
        name === null ? [] : [[userId, roleNamed(name, null)]],
      ),
    );
  }
  const rows = await tx
    .selectFrom('console_membership as m')
    .leftJoin('console_role as r', (join) =>
      join.onRef('r.merchant_id', '=', 'm.merchant_id').onRef('r.name', '=', 'm.role'),
    )
    .select(['m.user_id', 'm.role', 'r.permissions'])
    .where('m.merchant_id', '=', merchantId)
    .execute();
  return new Map(rows.map((row) => [row.user_id, roleNamed(row.role, row.permissions)]));
}

/**
 * Locks a merchant's members and its own roles, or the installation's, so that of two changes at once the second sees the first: also where
 * nobody is a member yet, whose rows could not be locked.
 */
export async function lockMembers(tx: Tx, merchantId: string): Promise<Members> {
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}::int, hashtext(${merchantId}::text))`.execute(tx);
  return await readMembers(tx, merchantId);
}

/** Whether the change of one person's role would leave a merchant without an owner. */
export function leavesNoOwner(members: Members, userId: string, role: Role | null): boolean {
  if (members.get(userId)?.name !== OWNER || role?.name === OWNER) return false;
  return [...members.values()].filter(({ name }) => name === OWNER).length === 1;
}

/** A change of one person's role with a merchant. */
export interface RoleChange {
  merchantId: string;
  userId: string;
  /** The role that they have, or that an unused invitation would give them. */
  before: Role | null | undefined;
  after: Role | null;
}

const OWN_ROLE = 'Nobody changes their own role. Ask somebody else who may.';

/**
 * Whether somebody may make a change, by the roles that they have now. Call it under the lock of the members.
 *
 * @throws Fail `forbidden`
 */
export async function checkMayAssign(
  tx: Tx,
  by: string,
  members: Members,
  { merchantId, userId, before = null, after }: RoleChange,
): Promise<void> {
  if (by === userId) throw new Fail('forbidden', OWN_ROLE);
  // The installation's people are changed from the command line alone.
  if (merchantId === NIL_ID) throw new Fail('forbidden', 'Roles of the installation are not given here.');
  await checkMayGive(tx, by, members, { before, after });
}

/**
 * Whether somebody may change what a role of the merchant's own permits. Call it under the lock of the members.
 *
 * @throws Fail `forbidden`
 */
export async function checkMayEditRole(
  tx: Tx,
  by: string,
  members: Members,
  { before, after }: { before: Role | null; after: Role | null },
): Promise<void> {
  const own = members.get(by)?.name;
  if (own !== undefined && own === before?.name) throw new Fail('forbidden', OWN_ROLE);
  await checkMayGive(tx, by, members, { before, after });
}

async function checkMayGive(
  tx: Tx,
  by: string,
  members: Members,
  { before, after }: { before: Role | null; after: Role | null },
): Promise<void> {
  const operator = await tx
    .selectFrom('console_user')
    .select('installation_role')
    .where('user_id', '=', by)
    .forShare()
    .executeTakeFirst();
  const role = members.get(by) ?? null;
  const installationRole = operator?.installation_role ?? null;
  const hasOwner = [...members.values()].some(({ name }) => name === OWNER);
  if (mayAssign({ role, installationRole }, { before, after, hasOwner })) return;
  throw new Fail(
    'forbidden',
    role === null && installationRole === 'operator'
      ? 'This merchant has an owner, and its own people manage its users.'
      : 'Only an owner makes, changes or removes owners, and a role that permits what yours does not takes somebody whose role permits it.',
  );
}
