import { recordChange } from '../../audit/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { encodeId } from '../../tenancy/index.ts';
import { roleNamed } from '../roles.ts';
import { type FoundLink, findLink, roleOfInvitation, unusable } from './find-link.ts';
import { isUnchanged, lockUser } from './lock-user.ts';
import { makeLink } from './make-link.ts';
import { lockMembers, writeRole } from './members.ts';
import { hashPassword } from './passwords.ts';
import { type Device, openSession } from './sessions.ts';
import { checkCredentials, type SignIn } from './sign-in.ts';
import { type ConsoleDeps, ensureUser, normalEmail } from './users.ts';

export { lookAtLink } from './look-at-link.ts';

/** The owner of a sandbox, who signs in by links. */
const SANDBOX_OWNER = 'owner@localhost';

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
export async function makeSandboxOwner(deps: ConsoleDeps, merchantId: string) {
  const nowMs = deps.clock.nowMs();
  return await transact(deps.db, async (tx) => {
    await lockMembers(tx, merchantId);
    const known = await tx
      .selectFrom('console_user')
      .select('user_id')
      .where('email', '=', SANDBOX_OWNER)
      .executeTakeFirst();
    const { user_id: userId } = await ensureUser(tx, SANDBOX_OWNER, nowMs);
    if (known === undefined) {
      const actor = { kind: 'cli' as const, id: 'start of the sandbox' };
      for (const [of, role] of [
        [merchantId, 'owner'],
        [NIL_ID, 'operator'],
      ] as const) {
        await writeRole(tx, { merchantId: of, userId, nowMs }, roleNamed(role, null));
        const change = { merchantId: of, actor, origin: 'localhost', action: 'users.makeSandboxOwner' };
        const after = { user_id: encodeId('user', userId), role };
        await recordChange(tx, deps, change, { before: { role: null }, after });
      }
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
 * has a role already must give theirs, so that nobody gets into somebody's account by inviting them. A link for signing in was made by
 * whoever has the database, which proves as much as both factors.
 */
export async function redeemLink(
  deps: ConsoleDeps,
  { token, password = '', code }: Redemption,
  device: Device,
): Promise<SignIn> {
  const { link, user, isNew } = await findLink(deps, token);
  const newHash = isNew ? await hashPassword(password, user.email) : undefined;
  let checked = { user, hasSecondFactor: link.kind === 'sign_in' };
  if (link.kind === 'invitation' && !isNew) {
    const factor = await checkCredentials(deps, { email: user.email, password, code }, device);
    if (factor === 'code_required') return factor;
    checked = factor;
  }
  const { hasSecondFactor } = checked;
  return await transact(deps.db, async (tx) => {
    const accepted = await useLink(tx, deps, link);
    // Another invitation may have set a password meanwhile, or somebody may have changed it: then this person must give it.
    if (link.kind === 'invitation' && !(await isUnchanged(tx, checked.user))) throw unusable();
    if (newHash !== undefined) {
      const named = tx.updateTable('console_user').where('user_id', '=', user.user_id);
      await named.set({ password_hash: newHash }).execute();
    }
    if (accepted !== undefined) {
      const { merchantId, after } = accepted;
      const actor = { kind: 'user' as const, id: encodeId('user', user.user_id) };
      const origin = device.remoteAddress;
      const change = { merchantId, actor, origin, action: 'users.acceptInvitation' };
      await recordChange(tx, deps, change, { before: { role: null }, after });
    }
    return await openSession(tx, deps, { userId: user.user_id, hasSecondFactor, device });
  });
}

/**
 * Spends a link, and gives the role of an invitation if whoever made it may still give that role.
 *
 * @returns what was given, for the audit log
 * @throws Fail `authentication_required`
 */
async function useLink(tx: Tx, deps: ConsoleDeps, link: FoundLink['link']) {
  const { merchant_id: merchantId, user_id: userId, made_by: madeBy } = link;
  const nowMs = deps.clock.nowMs();
  const members = merchantId === null ? undefined : await lockMembers(tx, merchantId);
  // Whoever is being removed: their links go, and their sessions end, under this lock.
  await lockUser(tx, userId);
  // Of two who redeem it at once the second finds it used; who dropped it meanwhile held the lock of the members.
  const { numUpdatedRows } = await tx
    .updateTable('console_link')
    .set({ used_at_ms: nowMs })
    .where('digest', '=', link.digest)
    .where('used_at_ms', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw unusable();
  const given = await roleOfInvitation(tx, link, members);
  if (given === undefined) return undefined;
  const { role } = given;
  await writeRole(tx, { merchantId: given.merchantId, userId, nowMs }, role);
  const after = { role: role.name, invited_by: madeBy === null ? null : encodeId('user', madeBy) };
  return { merchantId: given.merchantId, after };
}
