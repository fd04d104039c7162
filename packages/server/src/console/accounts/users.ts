import { sql } from 'kysely';
import { NIL_ID, newId } from '../../platform/db/ids/index.ts';
import { type Db, type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import type { Platform } from '../../platform/platform.ts';
import { getMerchant } from '../../stores/index.ts';
import { mayApprove, OWNER, type Roles, roleNamed } from '../roles.ts';
import { clearIfGone } from './clear.ts';
import { dropLinks, makeLink, pendingRoles } from './make-link.ts';
import { checkMayAssign, leavesNoOwner, lockMembers, roleOf, writeRole } from './members.ts';
import { endSessionsOf } from './sessions.ts';
import type { UserRow } from './tables.ts';

export type ConsoleDeps = Pick<Platform, 'db' | 'clock' | 'vault' | 'log'>;

const EMAIL = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,190}$/u;

/** Addresses are compared in lower case. */
export const normalEmail = (typed: string): string => typed.trim().normalize('NFKC').toLowerCase();

/** @throws Fail `invalid_request` */
export function checkEmail(typed: string): string {
  const email = normalEmail(typed);
  if (EMAIL.test(email)) return email;
  throw new Fail('invalid_request', { message: 'This is no e-mail address.', param: 'email' });
}

export async function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  return await db.selectFrom('console_user').selectAll().where('email', '=', email).executeTakeFirst();
}

const unknownUser = () => new Fail('resource_not_found', 'There is no such user here.');

/** @throws Fail `resource_not_found` */
export async function getUser(db: Db, userId: string): Promise<UserRow> {
  const users = db.selectFrom('console_user').selectAll().where('user_id', '=', userId);
  const user = await users.executeTakeFirst();
  if (user === undefined) throw unknownUser();
  return user;
}

/** Whether a person may approve for a merchant now: nobody's role changes until commit. */
export async function mayApproveNow(tx: Tx, merchantId: string, userId: string): Promise<boolean> {
  return mayApprove((await lockMembers(tx, merchantId)).get(userId));
}

/** Those of the merchants that have an owner. */
export async function listOwned(db: Db, merchantIds: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('console_membership')
    .select('merchant_id')
    .distinct()
    .where('role', '=', OWNER)
    .where('merchant_id', '=', sql<string>`any(${merchantIds}::uuid[])`)
    .execute();
  return new Set(rows.map(({ merchant_id: merchantId }) => merchantId));
}

/** The operators of the installation. */
export async function listOperators(db: Db): Promise<Set<string>> {
  const rows = await db
    .selectFrom('console_user')
    .select('user_id')
    .where('installation_role', '=', 'operator')
    .execute();
  return new Set(rows.map(({ user_id: userId }) => userId));
}

/** The operators of the installation; nobody becomes one or ceases to be one until commit. */
export async function lockOperators(tx: Tx): Promise<Set<string>> {
  await lockMembers(tx, NIL_ID);
  return await listOperators(tx);
}

export interface User {
  userId: string;
  email: string;
  role: string;
  /** They were invited and have not come yet. */
  isInvited: boolean;
  hasSecondFactor: boolean;
}

/** Users of a merchant, or with the nil id those of the installation, and who is invited. */
export async function listUsers(
  { db, clock }: Pick<ConsoleDeps, 'db' | 'clock'>,
  merchantId: string,
): Promise<User[]> {
  const members = await db
    .selectFrom('console_user as u')
    .leftJoin('console_membership as m', (join) =>
      join.onRef('m.user_id', '=', 'u.user_id').on('m.merchant_id', '=', merchantId),
    )
    .select(['u.user_id', 'u.email', 'u.installation_role', 'm.role'])
    .select((is) =>
      is
        .or([
          is('u.totp_confirmed', '=', true),
          is.exists(
            is.selectFrom('console_passkey as p').select('p.user_id').whereRef('p.user_id', '=', 'u.user_id'),
          ),
        ])
        .as('has_factor'),
    )
    .where(merchantId === NIL_ID ? 'u.installation_role' : 'm.role', 'is not', null)
    .execute();
  const invited = await db
    .selectFrom('console_link as l')
    .innerJoin('console_user as u', 'u.user_id', 'l.user_id')
    .select(['u.user_id', 'u.email', 'l.role'])
    .where('l.merchant_id', '=', merchantId)
    .where('l.used_at_ms', 'is', null)
    .where('l.expires_at_ms', '>', BigInt(clock.nowMs()))
    .execute();
  const users = [
    ...members.map((one) => ({
      userId: one.user_id,
      email: one.email,
      role: (merchantId === NIL_ID ? one.installation_role : one.role) ?? '',
      isInvited: false,
      hasSecondFactor: Boolean(one.has_factor),
    })),
    ...invited.map(({ user_id: userId, email, role }) => ({
      userId,
      email,
      role: role ?? '',
      isInvited: true,
      hasSecondFactor: false,
    })),
  ];
  return users.toSorted((a, b) => (a.email < b.email ? -1 : 1));
}

/**
 * E-mail addresses of those of these people who have a role with the merchant; with the nil id, of all of them. So a merchant is not told
 * the address of a present or former operator.
 */
export async function addressesOf(
  db: Db,
  merchantId: string,
  userIds: readonly string[],
): Promise<{ userId: string; email: string }[]> {
  if (userIds.length === 0) return [];
  const rows = await db
    .selectFrom('console_user as u')
    .leftJoin('console_membership as m', (join) =>
      join.onRef('m.user_id', '=', 'u.user_id').on('m.merchant_id', '=', merchantId),
    )
    .select(['u.user_id', 'u.email', 'm.role'])
    .where('u.user_id', 'in', userIds)
    .execute();
  return rows
    .filter(({ role }) => merchantId === NIL_ID || role !== null)
    .map((one) => ({ userId: one.user_id, email: one.email }));
}

/** The merchants that a person has a role with. */
export async function membershipsOf(db: Db, userId: string) {
  const rows = await db
    .selectFrom('console_membership as c')
    .innerJoin('merchant as m', 'm.merchant_id', 'c.merchant_id')
    .leftJoin('console_role as r', (join) =>
      join.onRef('r.merchant_id', '=', 'c.merchant_id').onRef('r.name', '=', 'c.role'),
    )
    .select(['c.merchant_id', 'c.role', 'm.name', 'm.mode', 'r.permissions'])
    .where('c.user_id', '=', userId)
    .orderBy('m.name')
    .orderBy('c.merchant_id')
    .execute();
  return rows.map(({ role, permissions, ...one }) => ({ ...one, role: roleNamed(role, permissions) }));
}

/** A person's roles with one merchant, as they are now. */
export async function rolesOf(db: Db, userId: string, merchantId: string): Promise<Roles> {
  const row = await db
    .selectFrom('console_user as u')
    .leftJoin('console_membership as m', (join) =>
      join.onRef('m.user_id', '=', 'u.user_id').on('m.merchant_id', '=', merchantId),
    )
    .leftJoin('console_role as r', (join) =>
      join.onRef('r.merchant_id', '=', 'm.merchant_id').onRef('r.name', '=', 'm.role'),
    )
    .select(['u.installation_role', 'm.role', 'r.permissions'])
    .where('u.user_id', '=', userId)
    .executeTakeFirst();
  const name = row?.role ?? null;
  return {
    role: name === null ? null : roleNamed(name, row?.permissions ?? null),
    installationRole: row?.installation_role ?? null,
  };
}

/** Finds the person of an address, or makes one who cannot sign in yet. */
export async function ensureUser(tx: Tx, email: string, nowMs: number): Promise<UserRow> {
  const row: UserRow = {
    user_id: newId(),
    email,
    created_at_ms: nowMs,
    password_hash: null,
    installation_role: null,
    totp_secret: null,
    totp_confirmed: false,
    totp_used_step: 0,
  };
  await tx
    .insertInto('console_user')
    .values(row)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .execute();
  return (await findUserByEmail(tx, email)) ?? row;
}

export interface Invitation {
  userId: string;
  email: string;
  role: string;
  /** The secret of the link, shown once. */
  token: string;
  expiresAtMs: number;
}

/**
 * Makes the link by which a person comes to a merchant, or with the nil id to the installation. The role is theirs once
 * they come, not before: whoever invites the same address elsewhere must not get it. An earlier link of the same merchant
 * works no more.
 *
 * @param by the user who invites; undefined for the command line, which may do everything
 * @param alsoDo in the same transaction
 * @throws Fail `conflict` for who has a role there; `forbidden` where `by` may not give it
 */
export async function inviteUser(
  { db, clock }: ConsoleDeps,
  { merchantId, email: typed, role: typedRole }: { merchantId: string; email: string; role: string },
  by?: string,
  alsoDo?: (tx: Tx, made: Invitation) => Promise<void>,
): Promise<Invitation> {
  const email = checkEmail(typed);
  if (merchantId !== NIL_ID) await getMerchant(db, merchantId);
  const nowMs = clock.nowMs();
  return await transact(db, async (tx) => {
    const members = await lockMembers(tx, merchantId);
    const role = await roleOf(tx, merchantId, typedRole);
    const { user_id: userId } = await ensureUser(tx, email, nowMs);
    // Whoever replaces an invitation takes its role away, too.
    const pending = await pendingRoles(tx, { merchantId, userId, nowMs });
    if (by !== undefined)
      for (const before of [members.get(userId), ...pending])
        await checkMayAssign(tx, by, members, { merchantId, userId, before, after: role });
    if (members.has(userId))
      throw new Fail('conflict', `${email} has a role here already. Change it instead.`);
    await dropLinks(tx, { merchantId, userId });
    const link = { userId, kind: 'invitation' as const, merchantId, role: role.name, madeBy: by ?? null };
    const made = { userId, email, role: role.name, ...(await makeLink(tx, link, nowMs)) };
    await alsoDo?.(tx, made);
    return made;
  });
}

/**
 * Changes a role. Null takes it away, as well as an invitation, and ends the person's sessions; who has no role left
 * anywhere has no password and no second factor either. Unused invitations that the person made there work no more.
 *
 * @param by the user who changes it; undefined for the command line
 * @param seen the role that the caller's page has shown; undefined: the present role is not compared
 * @throws Fail `conflict` for the last owner, and where the role is not the one that was seen; `forbidden` where `by` may not
 */
export async function changeRole(
  { db, clock }: ConsoleDeps,
  {
    merchantId,
    userId,
    role: typed,
    seen,
  }: { merchantId: string; userId: string; role: string | null; seen?: string | undefined },
  by?: string,
): Promise<void> {
  const nowMs = clock.nowMs();
  await transact(db, async (tx) => {
    const members = await lockMembers(tx, merchantId);
    const role = typed === null ? null : await roleOf(tx, merchantId, typed);
    const before = members.get(userId);
    const pending = await pendingRoles(tx, { merchantId, userId, nowMs });
    if (by !== undefined)
      for (const had of [before, ...pending])
        await checkMayAssign(tx, by, members, { merchantId, userId, before: had, after: role });
    if (before === undefined) {
      const dropped = role === null && (await dropLinks(tx, { merchantId, userId }));
      if (!dropped) throw unknownUser();
      return;
    }
    // As after an answer that was lost: what was done since, such as invitations of the person, stays.
    if (seen !== undefined && role?.name === before.name) return;
    if (seen !== undefined && seen !== before.name)
      throw new Fail(
        'conflict',
        `Somebody changed this role meanwhile: it is ${before.name} now. Nothing was changed.`,
      );
    if (leavesNoOwner(members, userId, role))
      throw new Fail(
        'conflict',
        'This is the last owner of the merchant. Make somebody else an owner first.',
      );
    await writeRole(tx, { merchantId, userId, nowMs }, role);
    await dropLinks(tx, { merchantId, userId });
    // An operator has invited people of every merchant.
    await dropLinks(tx, { ...(merchantId === NIL_ID ? {} : { merchantId }), madeBy: userId });
    if (role !== null) return;
    await endSessionsOf(tx, userId, nowMs);
    await clearIfGone(tx, userId);
  });
}
