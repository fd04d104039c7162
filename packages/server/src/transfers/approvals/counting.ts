import { isByNamedKey } from '@florin/signer/approvals';
import { sql } from 'kysely';
import type { ChainOwner, ChainRegistry } from '../../chains/index.ts';
import type { Authority } from '../../chains/port/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { Fail, invalidParam } from '../../platform/fail.ts';
import '../../stores/approvers/index.ts';
import { type KeptApproval, listKept, shownOf } from './authority.ts';
import { type ApprovalRules, readApprovalRules } from './required-approvals.ts';

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

/**
 * Checks that the people who are still to come can sign as often as the signer wants: approvals with a token alone must not
 * use them up.
 *
 * @param counts `wanted` signatures, and `left` approvals after this one
 * @throws Fail `invalid_request` with param `signature`; `service_unavailable` where the signer does not answer
 */
export async function checkSignaturesLeft(
  tx: Tx,
  { merchantId, kind, id }: Named,
  { wanted, left }: { wanted: number; left: number },
  { policy, nowSeconds }: { policy: AskedPolicy; nowSeconds: number },
): Promise<void> {
  if (wanted === 0) return;
  if (policy instanceof Fail) throw policy;
  const approvals = (await listKept(tx, merchantId, { kind, id })).filter(
    ({ decision }) => decision === 'approve',
  );
  const [signed, dead] = [true, false].map((is) =>
    approvals.filter((kept) => countsFor(kept, policy, nowSeconds) === is),
  );
  if (wanted - (signed?.length ?? 0) <= left) return;
  const names = dead?.map(({ approver }) => approver).join(', ') ?? '';
  throw invalidParam(
    'signature',
    `The signer wants ${wanted} signed ${wanted === 1 ? 'approval' : 'approvals'} of this ${kind}: approve by a passkey ` +
      'that its policy names, with --key-file, or give a signature.' +
      (names === '' ? '' : ` What was signed as ${names} counts no more: they sign again.`),
  );
}

/**
 * For an approver who has approved this already, and whose signature counts no more, or is none: a new one is kept alone then,
 * and the vote stays.
 *
 * @param vote action and subject of it
 * @returns how many have approved so far; undefined where the approver votes
 */
export async function countSignedAgain(
  tx: Tx,
  { merchantId, kind, id }: Named,
  { approverId, vote }: { approverId: string; vote: { action: string; subject: string } },
  { policy, nowSeconds }: { policy: AskedPolicy; nowSeconds: number },
): Promise<number | undefined> {
  const { rows } = await sql<{ approver_id: string }>`
    select approver_id from vote join approver using (merchant_id, approver_id)
    where merchant_id = ${merchantId} and action = ${vote.action} and subject = ${vote.subject} and decision = 'approved'
      and removed_at is null`.execute(tx);
  if (!rows.some(({ approver_id: voter }) => voter === approverId)) return undefined;
  const rules = policy instanceof Fail ? undefined : policy;
  const kept = await listKept(tx, merchantId, { kind, id });
  const counts = kept.some((one) => one.approverId === approverId && countsFor(one, rules, nowSeconds));
  return counts ? undefined : rows.length;
}
