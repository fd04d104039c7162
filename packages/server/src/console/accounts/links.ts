import { NIL_ID } from '../../platform/db/ids/index.ts';
import { type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { makeLink } from './make-link.ts';
import { roleOf, writeRole } from './members.ts';
import { hashPassword } from './passwords.ts';
import { digestOf } from './secrets.ts';
import { type Device, openSession } from './sessions.ts';
import { checkCredentials, type SignIn } from './sign-in.ts';
import { type ConsoleDeps, ensureUser, getUser, normalEmail } from './users.ts';

/** The owner of a sandbox, who signs in by links. */
const SANDBOX_OWNER = 'owner@localhost';

const unusable = () =>
  new Fail('authentication_required', 'This link was used, has ended or was replaced. Ask for a new one.');

/** A link by which whoever has the database signs a person in, once and within an hour. */
export async function makeSignInLink({ db, clock }: ConsoleDeps, email: string) {
  const user = await db
    .selectFrom('console_user')
    .select('user_id')
    .where('email', '=', normalEmail(email))
    .executeTakeFirst();
  if (user === undefined) throw new Fail('resource_not_found', `There is no user ${email}.`);
  return await transact(db, (tx) => signInLink(tx, user.user_id, clock.nowMs()));
}

const signInLink = (tx: Tx, userId: string, nowMs: number) =>
  makeLink(tx, { userId, kind: 'sign_in', merchantId: null, role: null, madeBy: null }, nowMs);

/** Makes the owner of a sandbox who also operates it, unless somebody has changed that since. @returns a link */
export async function makeSandboxOwner({ db, clock }: ConsoleDeps, merchantId: string) {
  const nowMs = clock.nowMs();
  return await transact(db, async (tx) => {
    const known = await tx
      .selectFrom('console_user')
      .select('user_id')
      .where('email', '=', SANDBOX_OWNER)
      .executeTakeFirst();
    const { user_id: userId } = await ensureUser(tx, SANDBOX_OWNER, nowMs);
    if (known === undefined) {
      await writeRole(tx, { merchantId, userId, nowMs }, 'owner');
      await writeRole(tx, { merchantId: NIL_ID, userId, nowMs }, 'operator');
    }
    return await signInLink(tx, userId, nowMs);
  });
}

export interface Redemption {
  token: string;
  /** A new person's first password, or the password of who has one. */
  password?: string | undefined;
  code?: string | undefined;
}

/**
 * Opens a session by a link, which works once. An invitation gives its role: a new person sets a password with it, and who
 * has one must give it, so that nobody gets into somebody's account by inviting them. A link for signing in was made by
 * whoever has the database, which proves as much as both factors.
 */
export async function redeemLink(
  deps: ConsoleDeps,
  { token, password = '', code }: Redemption,
  device: Device,
): Promise<SignIn> {
  const digest = digestOf(token);
  const links = deps.db.selectFrom('console_link').selectAll().where('digest', '=', digest);
  const link = await links.executeTakeFirst();
  if (link === undefined || link.used_at_ms !== null || Number(link.expires_at_ms) <= deps.clock.nowMs())
    throw unusable();
  const user = await getUser(deps.db, link.user_id);
  const isNew = link.kind === 'invitation' && user.password_hash === null;
  const newHash = isNew ? await hashPassword(password, user.email) : undefined;
  let hasSecondFactor = link.kind === 'sign_in';
  if (link.kind === 'invitation' && !isNew) {
    const factor = await checkCredentials(deps, { email: user.email, password, code }, device);
    if (factor === 'code_required') return factor;
    ({ hasSecondFactor } = factor);
  }
  const nowMs = deps.clock.nowMs();
  return await transact(deps.db, async (tx) => {
    // Of two who redeem it at once the second finds it used.
    const { numUpdatedRows } = await tx
      .updateTable('console_link')
      .set({ used_at_ms: nowMs })
      .where('digest', '=', digest)
      .where('used_at_ms', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw unusable();
    if (newHash !== undefined) {
      const { numUpdatedRows: set } = await tx
        .updateTable('console_user')
        .set({ password_hash: newHash })
        .where('user_id', '=', user.user_id)
        // Another invitation may have set one meanwhile: this person must give it.
        .where('password_hash', 'is', null)
        .executeTakeFirst();
      if (set === 0n) throw unusable();
    }
    if (link.merchant_id !== null && link.role !== null) {
      const place = { merchantId: link.merchant_id, userId: user.user_id, nowMs };
      await writeRole(tx, place, roleOf(link.merchant_id, link.role));
    }
    return await openSession(tx, deps, { userId: user.user_id, hasSecondFactor, device });
  });
}
