import { sql } from 'kysely';
import type { Authority } from '../../chains/port/index.ts';
import type { Db } from '../../platform/db/index.ts';
import '../../stores/approvers/index.ts';
import { type KeptApproval, listKept } from './authority.ts';

/** What an approver has decided on a payout batch or refund as it is now. */
export interface Decided {
  name: string;
  decision: 'approved' | 'rejected';
  /** Unix seconds of the merchant's clock. */
  at: number;
  /** Of a vote without a signature, what it was given by, as far as that is known. */
  weakly: 'session' | 'token' | 'session or token';
  /** Whether they are an approver still. */
  isPresent: boolean;
  signed: KeptApproval | null;
}

interface VoteRow {
  approver_id: string;
  name: string;
  decision: Decided['decision'];
  created_at: bigint;
  user_id: string | null;
  from_console: boolean;
  is_present: boolean;
}

/** Votes and signatures, in the order in which they came. @param subject of the votes, which holds the digest of the content */
export async function listDecisions(
  db: Db,
  merchantId: string,
  { kind, id, action, subject }: Pick<Authority, 'kind' | 'id'> & { action: string; subject: string },
): Promise<Decided[]> {
  const { rows: votes } = await sql<VoteRow>`
    select v.approver_id, a.name, v.decision, v.created_at, a.user_id, a.from_console, a.removed_at is null as is_present
    from vote v join approver a on a.merchant_id = v.merchant_id and a.approver_id = v.approver_id
    where v.merchant_id = ${merchantId} and v.action = ${action} and v.subject = ${subject}
    order by v.created_at, a.name`.execute(db);
  // Where the policy calls somebody otherwise since, they have signed under both names.
  const kept = (await listKept(db, merchantId, { kind, id })).toSorted((a, b) => b.createdAt - a.createdAt);
  const voted = votes.map(
    (vote): Decided => ({
      name: vote.name,
      decision: vote.decision,
      at: Number(vote.created_at),
      weakly: weaklyBy(vote),
      isPresent: vote.is_present,
      signed: kept.find(({ approverId }) => approverId === vote.approver_id) ?? null,
    }),
  );
  // A signature that came after the votes.
  const late = kept.filter(({ approverId }) => !votes.some((vote) => vote.approver_id === approverId));
  return [
    ...voted,
    ...late.map(
      (signed): Decided => ({
        name: signed.approver,
        decision: signed.decision === 'approve' ? 'approved' : 'rejected',
        at: signed.createdAt,
        weakly: 'token',
        isPresent: signed.counts,
        signed,
      }),
    ),
  ];
}

function weaklyBy({ from_console: fromConsole, user_id: userId }: VoteRow): Decided['weakly'] {
  if (fromConsole) return 'session';
  return userId === null ? 'token' : 'session or token';
}
