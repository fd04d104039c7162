import type { Tx } from '../../platform/db/index.ts';
import { invariant } from '../../platform/fail.ts';
import type { UserRow } from './tables.ts';

/** Locks a person until commit: changes of their password, factors and sessions come one after the other. */
export async function lockUser(tx: Tx, userId: string): Promise<UserRow> {
  const user = await tx
    .selectFrom('console_user')
    .selectAll()
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
  invariant(user !== undefined, 'people are never deleted');
  return user;
}

/** Whether password and second factor are still those that were checked: hashing takes long enough for a change. */
export async function isUnchanged(tx: Tx, checked: UserRow): Promise<boolean> {
  const now = await lockUser(tx, checked.user_id);
  return now.password_hash === checked.password_hash && now.totp_confirmed === checked.totp_confirmed;
}
