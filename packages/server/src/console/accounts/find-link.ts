import type { Selectable } from 'kysely';
import type { Db, Tables, Tx } from '../../platform/db/index.ts';
import { Fail, invariant } from '../../platform/fail.ts';
import type { Role } from '../roles.ts';
import { findWithCredentials, type UserWithCredentials } from './lock-user.ts';
import { checkMayAssign, type Members, roleOf } from './members.ts';
import { digestOf } from './secrets.ts';
import { type ConsoleDeps, membershipsOf } from './users.ts';

type LinkRow = Selectable<Tables['console_link']>;

export const unusable = () =>
  new Fail('authentication_required', 'This link was used, has ended or was replaced. Ask for a new one.');

export interface FoundLink {
  link: LinkRow;
  user: UserWithCredentials;
  /** An invitation of somebody who sets their first password with it. */
  isNew: boolean;
}

/** The link of a secret, unless it was used or has ended. @throws Fail `authentication_required` */
export async function findLink({ db, clock }: ConsoleDeps, token: string): Promise<FoundLink> {
  const links = db.selectFrom('console_link').selectAll().where('digest', '=', digestOf(token));
  const link = await links.executeTakeFirst();
  if (link === undefined || link.used_at_ms !== null || Number(link.expires_at_ms) <= clock.nowMs())
    throw unusable();
  const user = await findWithCredentials(db, 'user_id', link.user_id);
  invariant(user !== undefined, 'people are never deleted');
  const isNew = link.kind === 'invitation' && user.password_hash === null && !(await hasAnyRole(db, user));
  return { link, user, isNew };
}

/** Who has a role but no password was let in by a link of the terminal, as the owner of a sandbox is: that person is not new. */
const hasAnyRole = async (db: Db, { user_id: userId, installation_role: role }: UserWithCredentials) =>
  role !== null || (await membershipsOf(db, userId)).length > 0;

/**
 * The role that an invitation gives. The inviter must still be allowed to give it, and the person must have no role there yet.
 * To act on the answer, hold the lock of the members.
 *
 * @returns undefined: the link signs in and gives nothing
 * @throws Fail `authentication_required`
 */
export async function roleOfInvitation(
  tx: Tx,
  { merchant_id: merchantId, user_id: userId, made_by: madeBy, role: typed }: LinkRow,
  members: Members | undefined,
): Promise<{ merchantId: string; role: Role } | undefined> {
  if (merchantId === null || members === undefined || typed === null) return undefined;
  if (members.has(userId)) throw unusable();
  try {
    const role = await roleOf(tx, merchantId, typed);
    const change = { merchantId, userId, before: null, after: role };
    if (madeBy !== null) await checkMayAssign(tx, madeBy, members, change);
    return { merchantId, role };
  } catch (error) {
    throw error instanceof Fail ? unusable() : error;
  }
}
