import { isByNamedKey } from '@florin/signer/approvals';
import { sql } from 'kysely';
import type { ChainOwner, ChainRegistry } from '../../chains/index.ts';
import type { Authority } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { Fail, invalidParam } from '../../platform/fail.ts';
import { votes } from '../../stores/approvers/index.ts';
import { type KeptApproval, listKept, shownOf } from './authority.ts';
import { type ApprovalRules, readApprovalRules } from './required-approvals.ts';

export { readPolicyForPage } from './required-approvals.ts';

/** What the signer's policy says; undefined where no signer asks, a Fail while it does not answer. */
export type AskedPolicy = ApprovalRules | Fail | undefined;

/** Read outside of a transaction; rejections end everything whatever the policy says. */
export const readPolicy = async (
  chains: ChainRegistry,
  merchant: ChainOwner,
  { decision, signed }: { decision: 'approved' | 'rejected'; signed?: object | undefined },
): Promise<AskedPolicy> =>
  decision === 'approved' || signed !== undefined ? await readApprovalRules(chains, merchant) : undefined;

type Named = Pick<Authority, 'merchantId' | 'kind' | 'id'>;

/** What waits may be signed after its votes, by a clock that is not the signer's. */
const MARGIN_SECONDS = 60;

/** Whether the signer would count a kept approval, as far as its policy says. */
export const countsFor = (
  kept: KeptApproval,
  rules: ApprovalRules | undefined,
  nowSeconds: number,
): boolean =>
  kept.counts &&
  kept.decision === 'approve' &&
  kept.validUntil > nowSeconds + MARGIN_SECONDS &&
  (rules === undefined || shownOf(kept).some((shown) => isByNamedKey(rules.approvers, shown)));

/** A payout batch or refund that people decide on. */
interface Asked extends Named {
  /** Action and subject of the votes. */
  action: string;
  subject: string;
  /** How many people have to approve, and how many of them with a signature for the signer; null: no signer asks. */
  required: number;
  wanted: number | null;
}

/** What is there after somebody has approved. */
interface Tally {
  /** People who approve, this one included, of so many. */
  agreed: number;
  required: number;
  /** Signatures that count, of so many. */
  signed: number;
  wanted: number;
  /** People who approve and whose signature counts no more: they can sign again. */
  signingAgain: number;
}

/** How somebody approves. `again`: they had approved, and now have a signature that counts where they had none. */
type Approving = 'signs' | 'votes' | 'again' | 'repeats';

/**
 * Votes and signatures are complete, or wait for others, or this approval is refused: one without a signature must leave
 * enough people to sign. Nobody who signs is refused for what became of others' signatures.
 */
function judgeApproval(
  { agreed, required, signed, wanted, signingAgain }: Tally,
  by: Approving,
): 'done' | 'waits' | 'unsigned' | 'repeated' {
  if (agreed >= required && signed >= wanted) return 'done';
  if (by === 'repeats') return 'repeated';
  if (by !== 'votes') return 'waits';
  const left = Math.max(0, required - agreed) + signingAgain;
  // Whoever votes beyond the votes that are wanted only adds something by a signature.
  return wanted - signed <= left && agreed <= required ? 'waits' : 'unsigned';
}

/** Who has approved and whose signature counts no more, by the names of the approvers. */
export async function listSigningAgain(
  db: Db,
  { merchantId, kind, id, action, subject }: Omit<Asked, 'required' | 'wanted'>,
  { policy, nowSeconds }: { policy: AskedPolicy; nowSeconds: number },
): Promise<string[]> {
  const { rows: voters } = await sql<{ approver_id: string; name: string }>`
    select approver_id, name from vote join approver using (merchant_id, approver_id)
    where merchant_id = ${merchantId} and action = ${action} and subject = ${subject} and decision = 'approved'
      and removed_at is null
    order by vote.created_at, name`.execute(db);
  const rules = policy instanceof Fail ? undefined : policy;
  const kept = await listKept(db, merchantId, { kind, id });
  return voters
    .filter(({ approver_id: voter }) => {
      const own = kept.filter(({ approverId, decision }) => approverId === voter && decision === 'approve');
      return own.length > 0 && !own.some((one) => countsFor(one, rules, nowSeconds));
    })
    .map(({ name }) => name);
}

/** Somebody's decision on it. */
interface Deciding {
  approverId: string;
  decision: 'approved' | 'rejected';
  /** Keeps the signature that came with it. */
  keep: (() => Promise<void>) | undefined;
}

/**
 * Counts somebody's vote, keeps their signature, and decides whether votes and signatures are complete. Who has approved may
 * come again: with a signature where theirs counts no more or is none, or where all is complete by what has changed since. The
 * vote stays one. The caller has locked what is decided on, and carries out what is done; one rejection is.
 *
 * @throws Fail `invalid_request` for an approver who has decided before, and with param `signature` where the people who are
 * left could not sign as often as the signer wants; `service_unavailable` where the signer does not answer
 */
export async function countDecision(
  tx: Tx,
  asked: Asked,
  { approverId, decision, keep }: Deciding,
  at: { policy: AskedPolicy; nowSeconds: number },
): Promise<{ agreed: number; isDone: boolean }> {
  const { merchantId, action, subject, required } = asked;
  const vote = { action, subject, approverId, decision, required, countsPeople: true };
  const mayRepeat = decision === 'approved';
  const { agreed, isRepeated } = await votes.castVote(tx, merchantId, { ...vote, mayRepeat }, at.nowSeconds);
  const counted = await countingSignatures(tx, asked, at);
  await keep?.();
  if (decision === 'rejected') return { agreed, isDone: true };
  const wanted = asked.wanted ?? 0;
  if (wanted > 0 && at.policy instanceof Fail) throw at.policy;
  // One human who signed under two names is one.
  const signed = new Set(await countingSignatures(tx, asked, at)).size;
  const again = await listSigningAgain(tx, asked, at);
  const isOwnNew = keep !== undefined && !counted.includes(approverId);
  const by = approvingBy({ isRepeated: isRepeated === true, isSigned: keep !== undefined, isOwnNew });
  const verdict = judgeApproval({ agreed, required, signed, wanted, signingAgain: again.length }, by);
  if (verdict === 'repeated') throw new Fail('invalid_request', 'You have decided on this before.');
  if (verdict === 'unsigned') throw unsigned(asked.kind, wanted, again);
  return { agreed, isDone: verdict === 'done' };
}

function approvingBy(is: { isRepeated: boolean; isSigned: boolean; isOwnNew: boolean }): Approving {
  if (is.isRepeated) return is.isOwnNew ? 'again' : 'repeats';
  return is.isSigned ? 'signs' : 'votes';
}

/** The approvers of the signatures that count, one for each name of the policy. */
async function countingSignatures(
  tx: Tx,
  { merchantId, kind, id }: Named,
  { policy, nowSeconds }: { policy: AskedPolicy; nowSeconds: number },
): Promise<(string | null)[]> {
  const rules = policy instanceof Fail ? undefined : policy;
  const kept = await listKept(tx, merchantId, { kind, id });
  return kept.filter((one) => countsFor(one, rules, nowSeconds)).map(({ approverId }) => approverId);
}

const unsigned = (kind: Named['kind'], wanted: number, again: readonly string[]) =>
  invalidParam(
    'signature',
    `The signer wants ${wanted} signed ${wanted === 1 ? 'approval' : 'approvals'} of this ${kind}: approve by a passkey ` +
      'that its policy names, with --key-file, or give a signature.' +
      again.map((name) => ` ${name} has to sign again.`).join(''),
  );
