import { sql } from 'kysely';
import type { Tx } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { lockApprovers } from './queries.ts';
import './tables.ts';

// What one person must not do alone is carried out once two registered people have decided the same of the same subject.
// Votes of a merchant are cast one after another (its approvers' rows are locked), so of two people who decide at once
// exactly one sees the other's vote and carries it out. Count and effect commit together. Votes of people who were removed
// meanwhile do not count.

/** How many must agree, unless the vote says otherwise. */
const REQUIRED = 2;

export interface Vote {
  /** The kind of decision, such as `payments.seizure`. */
  action: string;
  /**
   * The very thing that is decided, with every value that the people must agree on (amount, reference): votes on
   * subjects that differ in one character do not add up.
   */
  subject: string;
  approverId: string;
  decision: string;
  /** How many must agree; 2 by default. */
  required?: number;
}

export interface VoteCount {
  /** How many have decided the same of this subject, this vote included. */
  agreed: number;
  required: number;
  /** True: enough agree, and the caller carries the decision out in this transaction. */
  isDone: boolean;
}

/**
 * Records what a registered approver decides. The caller has identified the approver (`identifyApprover`), and checks
 * in the same transaction that the subject is still undecided.
 *
 * @throws Fail `invalid_request` where that person has decided on this subject before; `forbidden` for one who was removed
 */
export async function castVote(
  tx: Tx,
  merchantId: string,
  vote: Vote,
  nowSeconds: number,
): Promise<VoteCount> {
  const { action, subject, approverId, decision, required = REQUIRED } = vote;
  const present = (await lockApprovers(tx, merchantId)).filter((approver) => approver.removed_at === null);
  const ids = present.map((approver) => approver.approver_id);
  if (!ids.includes(approverId)) throw new Fail('forbidden', 'This approver was removed.');
  const { rows } = await sql`
    insert into vote (merchant_id, action, subject, approver_id, decision, created_at)
    values (${merchantId}, ${action}, ${subject}, ${approverId}, ${decision}, ${nowSeconds})
    on conflict (merchant_id, action, subject, approver_id) do nothing
    returning 1`.execute(tx);
  if (rows.length === 0) throw new Fail('invalid_request', 'You have decided on this before.');
  const { votes } = await tx
    .selectFrom('vote')
    .select((e) => e.fn.countAll<bigint>().as('votes'))
    .where('merchant_id', '=', merchantId)
    .where('action', '=', action)
    .where('subject', '=', subject)
    .where('decision', '=', decision)
    .where('approver_id', 'in', ids)
    .executeTakeFirstOrThrow();
  const agreed = Number(votes);
  return { agreed, required, isDone: agreed >= required };
}
