import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
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

/** A person with all that they sign in with, as of one moment. */
export interface UserWithCredentials extends UserRow {
  /** Differs after every change of password, authenticator, passkeys or recovery codes; the use of one changes nothing. */
  credentials: string;
}

const CREDENTIALS = sql<string>`jsonb_build_array(
  password_hash,
  case when totp_confirmed then totp_secret end,
  array(select credential_id from console_passkey p where p.user_id = console_user.user_id order by 1),
  array(select digest from console_recovery_code c where c.user_id = console_user.user_id order by 1))::text`;

/** Whoever checks password and factors begins with this, and ends with `isUnchanged`. */
export async function findWithCredentials(
  db: Db,
  column: 'email' | 'user_id',
  value: string,
): Promise<UserWithCredentials | undefined> {
  return await db
    .selectFrom('console_user')
    .selectAll()
    .select(CREDENTIALS.as('credentials'))
    .where(column, '=', value)
    .executeTakeFirst();
}

/** Whether all that somebody signs in with is still what was checked: hashing takes long enough for a change. */
export async function isUnchanged(tx: Tx, checked: UserWithCredentials): Promise<boolean> {
  const { user_id: userId } = checked;
  await lockUser(tx, userId);
  // Read behind the lock: a statement that waits for it sees other tables as they were when it began.
  const now = await findWithCredentials(tx, 'user_id', userId);
  return now?.credentials === checked.credentials;
}
