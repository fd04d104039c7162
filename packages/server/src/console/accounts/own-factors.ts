import type { Db, Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { lockUser } from './lock-user.ts';
import type { Acting } from './sessions.ts';
import type { UserRow } from './tables.ts';

/** Whether a person has a second factor: an authenticator app or a passkey. */
export async function hasFactor(
  db: Db,
  { user_id: userId, totp_confirmed: hasTotp }: Pick<UserRow, 'user_id' | 'totp_confirmed'>,
): Promise<boolean> {
  if (hasTotp) return true;
  const passkey = await db
    .selectFrom('console_passkey')
    .select('user_id')
    .where('user_id', '=', userId)
    .limit(1)
    .executeTakeFirst();
  return passkey !== undefined;
}

/**
 * Locks a person and the session in which they change password or factors. Without the second factor that they have,
 * nobody adds another one: a password alone would get past it.
 *
 * @throws Fail `authentication_required` for a session that was ended meanwhile; `forbidden` for one without the factor
 */
export async function lockOwn(tx: Tx, { userId, sessionId }: Acting): Promise<UserRow> {
  const user = await lockUser(tx, userId);
  const session = await tx
    .selectFrom('console_session')
    .select(['has_second_factor', 'ended_at_ms'])
    .where('session_id', '=', sessionId)
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
  if (session === undefined || session.ended_at_ms !== null)
    throw new Fail('authentication_required', 'Your session has ended.');
  if (!session.has_second_factor && (await hasFactor(tx, user)))
    throw new Fail('forbidden', 'Sign in with your second factor first.');
  return user;
}
