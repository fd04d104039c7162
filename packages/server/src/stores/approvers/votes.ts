import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { type Approver, lockApprovers } from '../queries.ts';
import '../tables.ts';

// Four eyes: a decision is carried out once two registered approvers, or two operators, have cast the same vote on the same subject.
// Votes are serialised: the approvers' rows of the merchant are locked, or the operators. So of two concurrent votes exactly one sees the
// other and carries the decision out. Count and effect commit together. Votes of removed approvers do not count.

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
  /** Who may vote in the place of the merchant's approvers, such as the operators: the caller has locked them. */
  voters?: ReadonlySet<string> | undefined;
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

/** Who has cast the same vote, this one among them once it is cast; also those who may not vote any more. */
async function votersOf(
  tx: Tx,
  merchantId: string,
  { action, subject, decision }: Pick<Vote, 'action' | 'subject' | 'decision'>,
): Promise<Set<string>> {
  const rows = await tx
    .selectFrom('vote')
    .select('approver_id')
    .where('merchant_id', '=', merchantId)
    .where('action', '=', action)
    .where('subject', '=', subject)
    .where('decision', '=', decision)
    .execute();
  return new Set(rows.map(({ approver_id: id }) => id));
}

/**
 * Whoever has a token and a session could vote twice, as two approvers. So votes of approvers who are known people of the
 * console, and of those of whom it is not known, do not add up.
 */
async function checkAreTwoPeople(
  tx: Tx,
  vote: Vote,
  { merchantId, voter, present }: { merchantId: string; voter: Approver; present: readonly Approver[] },
): Promise<void> {
  const voters = await votersOf(tx, merchantId, vote);
  const others = present.filter(({ approver_id: id }) => id !== voter.approver_id && voters.has(id));
  const stranger = others.find(({ user_id }) => (user_id === null) !== (voter.user_id === null));
  if (stranger === undefined) return;
  throw new Fail(
    'forbidden',
    `${stranger.name} has decided on this, and it is not known whether that is you: florin approvers link says who is who.`,
  );
}

/** The merchant's approvers, this one among them. */
async function lockVoters(tx: Tx, merchantId: string, vote: Vote): Promise<string[]> {
  const present = (await lockApprovers(tx, merchantId)).filter((approver) => approver.removed_at === null);
  const voter = present.find((approver) => approver.approver_id === vote.approverId);
  if (voter === undefined) throw new Fail('forbidden', 'This approver was removed.');
  if (vote.countsPeople === true) await checkAreTwoPeople(tx, vote, { merchantId, voter, present });
  return present.map((approver) => approver.approver_id);
}

/** Votes as they were cast, the oldest first, also of people whose votes do not count any more. */
export async function listVotes(
  db: Db,
  { action, subjects }: { action: string; subjects: readonly { merchantId: string; subject: string }[] },
) {
  if (subjects.length === 0) return [];
  const { rows } = await sql<{
    merchantId: string;
    subject: string;
    voterId: string;
    decision: string;
    at: bigint;
  }>`
    select v.merchant_id as "merchantId", v.subject, v.approver_id as "voterId", v.decision, v.created_at as at
    from unnest(${subjects.map(({ merchantId }) => merchantId)}::uuid[], ${subjects.map(({ subject }) => subject)}::text[])
      as wanted (merchant_id, subject)
    join vote v on v.merchant_id = wanted.merchant_id and v.action = ${action} and v.subject = wanted.subject
    order by v.created_at, v.approver_id`.execute(db);
  return rows;
}

/** Deletes the votes of somebody who may not cast such votes any more: with a later role they would count again. */
export async function dropVotes(
  tx: Tx,
  { action, approverId }: Pick<Vote, 'action' | 'approverId'>,
): Promise<void> {
  await tx.deleteFrom('vote').where('action', '=', action).where('approver_id', '=', approverId).execute();
}

/** Takes a vote back. The caller checks in the same transaction that the subject is still undecided. @returns whether there was one */
export async function withdrawVote(
  tx: Tx,
  merchantId: string,
  { action, subject, approverId }: Pick<Vote, 'action' | 'subject' | 'approverId'>,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('vote')
    .where('merchant_id', '=', merchantId)
    .where('action', '=', action)
    .where('subject', '=', subject)
    .where('approver_id', '=', approverId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
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
  const ids = vote.voters === undefined ? await lockVoters(tx, merchantId, vote) : [...vote.voters];
  if (!ids.includes(approverId)) throw new Fail('forbidden', 'You may not decide on this any more.');
  const { rows } = await sql`
    insert into vote (merchant_id, action, subject, approver_id, decision, created_at)
    values (${merchantId}, ${action}, ${subject}, ${approverId}, ${decision}, ${nowSeconds})
    on conflict (merchant_id, action, subject, approver_id) do nothing
    returning 1`.execute(tx);
  const voters = await votersOf(tx, merchantId, vote);
  const isRepeated = rows.length === 0;
  if (isRepeated && !(vote.mayRepeat === true && voters.has(approverId)))
    throw new Fail('invalid_request', 'You have decided on this before.');
  const agreed = ids.filter((id) => voters.has(id)).length;
  return { agreed, required, isDone: agreed >= required, ...(isRepeated && { isRepeated }) };
}
