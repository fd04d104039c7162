import { NIL_ID, newId } from '../../platform/db/ids/index.ts';
import { codeOf, type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import type { Platform } from '../../platform/platform.ts';
import { digestOf, makeApproverToken } from '../keys/credentials.ts';
import { nameSkeleton } from '../name-skeleton.ts';
import { lockApprovers } from '../queries.ts';
import '../tables.ts';

const UNIQUE_VIOLATION = '23505';

interface Person {
  userId: string;
  email: string;
  /** Whether they may approve; no role of the merchant changes from then until commit. */
  mayApprove: (tx: Tx) => Promise<boolean>;
}

const nameTaken = (email: string) =>
  new Fail(
    'conflict',
    `An approver is called ${email}, or looks so, and it is not known whether that is you: florin approvers link says it.`,
  );

/**
 * The approver that a person of the console is. Who is none yet becomes one under their e-mail address, with a token that
 * nobody has: they decide signed in alone.
 *
 * @throws Fail `forbidden` for one who was removed, or may not approve any more; `conflict` where somebody else is called so
 */
export async function approverOf(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  { merchantId, clockOffset }: { merchantId: string; clockOffset: number },
  { userId, email, mayApprove }: Person,
): Promise<string> {
  try {
    return await transact(db, async (tx) => {
      // First, as changes of roles lock in that order: one that is under way would not see this approver.
      if (!(await mayApprove(tx))) throw new Fail('forbidden', 'Your role does not approve any more.');
      const known = await lockApprovers(tx, merchantId);
      const own = known.find(({ user_id }) => user_id === userId);
      if (own?.removed_at === null) return own.approver_id;
      if (own !== undefined) throw new Fail('forbidden', 'You were removed as an approver.');
      const skeleton = nameSkeleton(email);
      if (known.some(({ name }) => nameSkeleton(name) === skeleton)) throw nameTaken(email);
      const approver_id = newId();
      await tx
        .insertInto('approver')
        .values({
          merchant_id: merchantId,
          approver_id,
          name: email,
          skeleton,
          token_digest: digestOf(makeApproverToken()),
          user_id: userId,
          from_console: true,
          removed_at: null,
          created_at: clock.nowSeconds() + clockOffset,
        })
        .execute();
      return approver_id;
    });
  } catch (error) {
    // The same person, or somebody with that name, was registered at the same moment.
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    throw new Fail('conflict', 'Another decision registered this approver just now: try again.');
  }
}

/**
 * Follows a person's role: the votes of whoever may approve no more do not count, and those of whoever may again do. An
 * approver whom the operator registered or removed stays as the operator left them: they have a token. The installation's
 * own roles approve nothing.
 */
export async function setMayApprove(
  tx: Tx,
  { merchantId, userId }: { merchantId: string; userId: string },
  removedAt: number | null,
): Promise<void> {
  if (merchantId === NIL_ID) return;
  await lockApprovers(tx, merchantId);
  await tx
    .updateTable('approver')
    .set({ removed_at: removedAt })
    .where('merchant_id', '=', merchantId)
    .where('user_id', '=', userId)
    .where('from_console', '=', true)
    .execute();
}
