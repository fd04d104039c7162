import { sql } from 'kysely';
import type { Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { type Approver, lockApprovers } from '../queries.ts';
import '../tables.ts';

// Four eyes: a decision is carried out once two registered approvers have cast the same vote on the same subject. Votes of
// a merchant are serialised (its approvers' rows are locked), so of two concurrent votes exactly one sees the other and
// carries the decision out. Count and effect commit together. Votes of removed approvers do not count.

/** How many must agree by default. */
const REQUIRED = 2;

export interface Vote {
  /** The kind of decision, such as `payments.seizure`. */
  action: string;
  /**
   * The subject, with every value that the approvers must agree on (amount, reference): votes on subjects that differ in
   * one character do not add up.
   */
  subject: string;
  approverId: string;
  decision: string;
  /** How many must agree; 2 by default. */
  required?: number;
  /** People of the console vote on this too. */
  countsPeople?: boolean;
  /** Whoever has voted so before is counted as they are, and not refused. */
  mayRepeat?: boolean;
}

export interface VoteCount {
  /** The number of equal votes on this subject, this one included. */
  agreed: number;
  required: number;
  /** True: enough agree, and the caller must carry the decision out in this transaction. */
  isDone: boolean;
  /** The approver had voted so before, which `mayRepeat` allows. */
  isRepeated?: true;
}

/**
 * Whoever has a token and a session could vote twice, as two approvers. So votes of approvers who are known people of the
 * console, and of those of whom it is not known, do not add up.
 */
async function checkAreTwoPeople(
  tx: Tx,
  { action, subject, decision }: Vote,
  { merchantId, voter, present }: { merchantId: string; voter: Approver; present: readonly Approver[] },
): Promise<void> {
  const rows = await tx
    .selectFrom('vote')
    .select('approver_id')
    .where('merchant_id', '=', merchantId)
    .where('action', '=', action)
    .where('subject', '=', subject)
    .where('decision', '=', decision)
    .execute();
  const others = present.filter(
    ({ approver_id: id }) => id !== voter.approver_id && rows.some(({ approver_id }) => approver_id === id),
  );
  const stranger = others.find(({ user_id }) => (user_id === null) !== (voter.user_id === null));
  if (stranger === undefined) return;
  throw new Fail(
    'forbidden',
    `${stranger.name} has decided on this, and it is not known whether that is you: florin approvers link says who is who.`,
  );
}

/**
 * Records an approver's vote. The caller has identified the approver (`identifyApprover`), and checks in the same
 * transaction that the subject is still undecided.
 *
 * @throws Fail `invalid_request` where the approver has voted on this subject before, unless it
 *   was so and `mayRepeat`; `forbidden` for a removed approver, and for one who may be the same person as an earlier one
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
  const voter = present.find((approver) => approver.approver_id === approverId);
  if (voter === undefined) throw new Fail('forbidden', 'This approver was removed.');
  if (vote.countsPeople === true) await checkAreTwoPeople(tx, vote, { merchantId, voter, present });
  const { rows } = await sql`
    insert into vote (merchant_id, action, subject, approver_id, decision, created_at)
    values (${merchantId}, ${action}, ${subject}, ${approverId}, ${decision}, ${nowSeconds})
    on conflict (merchant_id, action, subject, approver_id) do nothing
    returning 1`.execute(tx);
  const counted = await tx
    .selectFrom('vote')
    .select('approver_id')
    .where('merchant_id', '=', merchantId)
    .where('action', '=', action)
    .where('subject', '=', subject)
    .where('decision', '=', decision)
    .where('approver_id', 'in', ids)
    .execute();
  const isRepeated = rows.length === 0;
  const hasVotedSo = counted.some((one) => one.approver_id === approverId);
  if (isRepeated && !(vote.mayRepeat === true && hasVotedSo))
    throw new Fail('invalid_request', 'You have decided on this before.');
  const agreed = counted.length;
  return { agreed, required, isDone: agreed >= required, ...(isRepeated && { isRepeated }) };
}
