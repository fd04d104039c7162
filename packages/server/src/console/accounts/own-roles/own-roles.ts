import { NIL_ID } from '../../../platform/db/ids/index.ts';
import { type Tx, transact } from '../../../platform/db/index.ts';
import { Fail } from '../../../platform/fail.ts';
import { getMerchant } from '../../../stores/index.ts';
import {
  BUILT_IN,
  INSTALLATION_ROLES,
  MERCHANT_PERMISSIONS,
  type Permission,
  type Role,
  roleNamed,
} from '../../roles.ts';
import { dropLinks } from '../make-link.ts';
import { applyRole, checkMayEditRole, lockMembers, type Members, readOwnRoles } from '../members.ts';
import type { ConsoleDeps } from '../users.ts';

/** Roles that a merchant makes for itself, beside the built-in ones. */
const OWN_ROLES_MAX = 50;
/** Whoever reads one of these names in an invitation or a log takes it for what it is called. */
const TAKEN: ReadonlySet<string> = new Set([...BUILT_IN.keys(), ...INSTALLATION_ROLES]);
const NAME = /^[a-z][a-z0-9_-]{1,31}$/;
const NAME_RULE =
  'A role has 2 to 32 lower-case letters, digits, dashes and underscores, and begins with a letter.';

export interface ListedRole extends Role {
  isBuiltIn: boolean;
  /** People who have it, without those who are only invited. */
  members: number;
}

/** A role of the merchant's own, as it is asked for. */
export interface RoleInput {
  merchantId: string;
  name: string;
  permissions: readonly string[];
}

const unknownRole = () => new Fail('resource_not_found', 'This merchant has made no role of this name.');
const invalid = (param: string, message: string) => new Fail('invalid_request', { message, param });

/** All roles of a merchant: the built-in ones first. */
export async function listRoles({ db }: Pick<ConsoleDeps, 'db'>, merchantId: string): Promise<ListedRole[]> {
  const own = await readOwnRoles(db, merchantId);
  const rows = await db
    .selectFrom('console_membership')
    .select(['role', (is) => is.fn.countAll<bigint>().as('members')])
    .where('merchant_id', '=', merchantId)
    .groupBy('role')
    .execute();
  const members = new Map(rows.map((row) => [row.role, Number(row.members)]));
  const listed = (isBuiltIn: boolean) => (role: Role) => ({
    ...role,
    isBuiltIn,
    members: members.get(role.name) ?? 0,
  });
  return [...[...BUILT_IN.values()].map(listed(true)), ...own.map(listed(false))];
}

/** Whoever has a role sees payments and balances: without them no page makes sense. */
function checkedRole({ name, permissions }: RoleInput): Role {
  const known: readonly string[] = MERCHANT_PERMISSIONS;
  const unknown = permissions.find((one) => !known.includes(one));
  if (unknown !== undefined)
    throw invalid('permissions', `A role permits some of ${known.join(', ')}; not ${unknown}.`);
  return { name, permissions: roleNamed(name, ['see', ...permissions]).permissions };
}

const isSame = (a: readonly Permission[], b: readonly string[]) =>
  a.length === new Set(b).size && a.every((one) => b.includes(one));

async function findOwn(tx: Tx, merchantId: string, name: string): Promise<Role | undefined> {
  return (await readOwnRoles(tx, merchantId)).find((role) => role.name === name);
}

/**
 * Makes a role of the merchant's own.
 *
 * @param by the user who makes it; undefined for the command line, which may do everything
 * @throws Fail `invalid_request`; `conflict` for a name that is taken; `forbidden` for what `by` may not give
 */
export async function createRole(
  { db, clock }: ConsoleDeps,
  input: RoleInput,
  by?: string,
): Promise<ListedRole> {
  const { merchantId, name } = input;
  if (!NAME.test(name)) throw invalid('name', NAME_RULE);
  const role = checkedRole(input);
  await getMerchant(db, merchantId);
  await transact(db, async (tx) => {
    const members = await lockMembers(tx, merchantId);
    if (by !== undefined) await checkMayEditRole(tx, by, members, { before: null, after: role });
    const own = await readOwnRoles(tx, merchantId);
    if (TAKEN.has(name) || own.some((one) => one.name === name))
      throw new Fail('conflict', { message: `There is a role ${name} already.`, param: 'name' });
    if (own.length >= OWN_ROLES_MAX)
      throw new Fail('conflict', `A merchant has at most ${OWN_ROLES_MAX} roles of its own.`);
    const row = { merchant_id: merchantId, name, permissions: [...role.permissions] };
    await tx
      .insertInto('console_role')
      .values({ ...row, created_at_ms: clock.nowMs() })
      .execute();
  });
  return { ...role, isBuiltIn: false, members: 0 };
}

/**
 * Changes what a role of the merchant's own permits, for all who have it, at once.
 *
 * @param by as in `createRole`
 * @param seen what the caller's page has shown; undefined: it is not compared
 * @throws Fail `resource_not_found`; `conflict` where it is not what was seen; `forbidden`
 */
export async function editRole(
  { db, clock }: ConsoleDeps,
  { seen, ...input }: RoleInput & { seen?: readonly string[] | undefined },
  by?: string,
): Promise<void> {
  const { merchantId, name } = input;
  const after = checkedRole(input);
  const nowMs = clock.nowMs();
  await transact(db, async (tx) => {
    const members = await lockMembers(tx, merchantId);
    const before = await findOwn(tx, merchantId, name);
    if (before === undefined) throw unknownRole();
    if (by !== undefined) await checkMayEditRole(tx, by, members, { before, after });
    // As after an answer that was lost.
    if (isSame(before.permissions, after.permissions)) return;
    if (seen !== undefined && !isSame(before.permissions, seen))
      throw new Fail(
        'conflict',
        `Somebody changed this role meanwhile: it permits ${before.permissions.join(', ')} now. Nothing was changed.`,
      );
    await tx
      .updateTable('console_role')
      .set({ permissions: [...after.permissions] })
      .where('merchant_id', '=', merchantId)
      .where('name', '=', name)
      .execute();
    const invitesNoMore =
      before.permissions.includes('manage_users') && !after.permissions.includes('manage_users');
    for (const userId of holdersOf(members, name)) {
      await applyRole(tx, { merchantId, userId, nowMs }, after);
      if (invitesNoMore) await dropLinks(tx, { merchantId, madeBy: userId });
    }
  });
}

const holdersOf = (members: Members, name: string): string[] =>
  [...members].flatMap(([userId, role]) => (role.name === name ? [userId] : []));

/**
 * Deletes a role of the merchant's own that nobody has and nobody is invited to.
 *
 * @param by as in `createRole`
 * @throws Fail `resource_not_found`, `conflict`, `forbidden`
 */
export async function deleteRole(
  { db, clock }: ConsoleDeps,
  { merchantId, name }: Omit<RoleInput, 'permissions'>,
  by?: string,
): Promise<void> {
  if (merchantId === NIL_ID) throw unknownRole();
  await transact(db, async (tx) => {
    const members = await lockMembers(tx, merchantId);
    const before = await findOwn(tx, merchantId, name);
    if (before === undefined) throw unknownRole();
    if (by !== undefined) await checkMayEditRole(tx, by, members, { before, after: null });
    const invited = await tx
      .selectFrom('console_link')
      .select('user_id')
      .where('merchant_id', '=', merchantId)
      .where('role', '=', name)
      .where('used_at_ms', 'is', null)
      .where('expires_at_ms', '>', BigInt(clock.nowMs()))
      .execute();
    const count = holdersOf(members, name).length + invited.length;
    if (count > 0)
      throw new Fail(
        'conflict',
        `${count === 1 ? 'Somebody has' : `${count} people have`} this role, or an invitation to it. Give them another one first.`,
      );
    await tx
      .deleteFrom('console_role')
      .where('merchant_id', '=', merchantId)
      .where('name', '=', name)
      .execute();
  });
}
