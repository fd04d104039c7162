import { type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { OWNER } from '../roles.ts';
import { dropFactors } from './clear.ts';
import { lockUser } from './lock-user.ts';
import { lockMembers } from './members.ts';
import { endSessionsOf } from './sessions.ts';
import type { ConsoleDeps } from './users.ts';

/**
 * Takes the second factors of somebody who has lost them, and ends their sessions: with their password they come in and set
 * up new ones, and until then a role that needs one may do nothing. Factors belong to the person, so who has a role
 * elsewhere, too, is not for one merchant's owner to decide about.
 *
 * @param by the owner who resets them
 * @param alsoDo in the same transaction
 * @throws Fail `resource_not_found`; `forbidden` for anybody but another owner; `conflict` for who has a role elsewhere
 */
export async function resetFactors(
  { db, clock }: ConsoleDeps,
  { merchantId, userId }: { merchantId: string; userId: string },
  by: string,
  alsoDo?: (tx: Tx) => Promise<void>,
): Promise<void> {
  await transact(db, async (tx) => {
    const members = await lockMembers(tx, merchantId);
    if (!members.has(userId)) throw new Fail('resource_not_found', 'Nobody of this id has a role here.');
    if (members.get(by)?.name !== OWNER || by === userId)
      throw new Fail('forbidden', 'Second factors are reset by another owner of this merchant alone.');
    const { installation_role: installationRole } = await lockUser(tx, userId);
    const elsewhere = await tx
      .selectFrom('console_membership')
      .select('role')
      .where('user_id', '=', userId)
      .where('merchant_id', '!=', merchantId)
      .executeTakeFirst();
    if (installationRole !== null || elsewhere !== undefined)
      throw new Fail(
        'conflict',
        'This person has a role elsewhere, too: whoever runs this installation makes them a link (florin console link --email).',
      );
    await dropFactors(tx, userId);
    await endSessionsOf(tx, userId, clock.nowMs());
    await alsoDo?.(tx);
  });
}
