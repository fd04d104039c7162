import type { Db, Tx } from '../../platform/db/index.ts';
import { SESSION_MS } from './decisions.ts';
import { lockUser } from './lock-user.ts';
import { sweepTries } from './tries.ts';

/** Ended rows are kept so long: of a node whose clock is behind they may not have ended yet. */
const KEPT_MS = 24 * 3_600_000;

/** Links that sign a person in without a password. */
export async function dropSignInLinks(tx: Tx, userId: string): Promise<void> {
  await tx
    .deleteFrom('console_link')
    .where('user_id', '=', userId)
    .where('kind', '=', 'sign_in')
    .where('used_at_ms', 'is', null)
    .execute();
}

/** Takes all second factors of a person, and the links that would do without one. The caller has locked the person. */
export async function dropFactors(tx: Tx, userId: string): Promise<void> {
  await tx
    .updateTable('console_user')
    .set({ totp_secret: null, totp_confirmed: false })
    .where('user_id', '=', userId)
    .execute();
  await tx.deleteFrom('console_recovery_code').where('user_id', '=', userId).execute();
  await tx.deleteFrom('console_passkey').where('user_id', '=', userId).execute();
  await dropSignInLinks(tx, userId);
}

/**
 * Takes password and second factors of a person who has no role left anywhere. Whoever invites them again begins with a
 * new person; the row stays, as the audit log names it.
 */
export async function clearIfGone(tx: Tx, userId: string): Promise<void> {
  // A role that they take at this moment elsewhere is seen by the next statement.
  await lockUser(tx, userId);
  const { numUpdatedRows } = await tx
    .updateTable('console_user')
    .set({ password_hash: null })
    .where('user_id', '=', userId)
    .where('installation_role', 'is', null)
    .where((is) =>
      is.not(is.exists(is.selectFrom('console_membership').select('role').where('user_id', '=', userId))),
    )
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await dropFactors(tx, userId);
}

/** Deletes links, sessions and tries that count no more. */
export async function sweepAccounts(db: Db, nowMs: number): Promise<void> {
  const keptSince = BigInt(nowMs - KEPT_MS);
  await db
    .deleteFrom('console_link')
    .where((is) => is.or([is('expires_at_ms', '<', keptSince), is('used_at_ms', '<', keptSince)]))
    .execute();
  await db
    .deleteFrom('console_session')
    .where((is) =>
      is.or([
        is('ended_at_ms', '<', keptSince),
        is('created_at_ms', '<', BigInt(nowMs - KEPT_MS - SESSION_MS)),
      ]),
    )
    .execute();
  await db.deleteFrom('console_challenge').where('expires_at_ms', '<', keptSince).execute();
  await sweepTries(db, nowMs);
}
