import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainOwner, ChainRegistry } from '../../chains/index.ts';
import { type ApprovalRule, SignerUnavailable } from '../../chains/port/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { approvalLimits } from '../../stores/approvers/index.ts';

// A signer has a policy of its own about people's signatures, which our settings may not know. It is read before money is
// taken, so that nothing is accepted as approved that the signer will then refuse. The signer still judges each transaction.

/** What a signer wants of payouts or refunds; undefined where nobody asks; a Fail while it does not answer. */
export type SignerRule = ApprovalRule | Fail | undefined;

type Holder = NonNullable<ReturnType<ChainRegistry['holder']>>;
export type ApprovalRules = NonNullable<Awaited<ReturnType<Holder['approvalRules']>>>;
/** An approver as the signer's policy names them. */
export type PolicyApprover = ApprovalRules['approvers'][number];

type ApprovalSettings = Parameters<typeof approvalLimits.decideNeedsApproval>[2] & { approvals: number };

const RETRY_SECONDS = 60;

/** Reads the rule outside of a transaction. */
export async function readSignerRule(
  chains: ChainRegistry,
  merchant: ChainOwner,
  kind: 'payouts' | 'refunds',
): Promise<SignerRule> {
  const rules = await readApprovalRules(chains, merchant);
  return rules instanceof Fail ? rules : rules?.[kind];
}

const unanswered = (cause?: Error) =>
  new Fail('service_unavailable', {
    message:
      'The signer that holds the keys does not answer, so it is not known how many people have to approve. ' +
      'Nothing was changed; try again later.',
    retryAfterSeconds: RETRY_SECONDS,
    ...(cause !== undefined && { cause }),
  });

/** @returns undefined where nobody asks; a Fail while the signer does not answer */
export async function readApprovalRules(
  chains: ChainRegistry,
  merchant: ChainOwner,
): Promise<ApprovalRules | Fail | undefined> {
  try {
    return await chains.holder(merchant)?.approvalRules();
  } catch (error) {
    if (!(error instanceof SignerUnavailable)) throw error;
    return unanswered(error);
  }
}

/** So long a page waits for a signer that hangs. */
const PAGE_WAIT_MS = 2_000;

/** As `readApprovalRules`, for a page that only shows something: a signer that hangs counts as away soon. */
export async function readPolicyForPage(
  chains: ChainRegistry,
  merchant: ChainOwner,
): Promise<ApprovalRules | Fail | undefined> {
  const timer = new AbortController();
  const late = sleep(PAGE_WAIT_MS, undefined, { signal: timer.signal }).then(() => unanswered());
  try {
    return await Promise.race([readApprovalRules(chains, merchant), late]);
  } finally {
    timer.abort();
  }
}

/** How many have to approve, and how many of them with a signature for the signer; null: no signer asks. */
export interface ApprovalCounts {
  approvals: number;
  signatures: number | null;
}

/** Sums what was accepted without people: of a merchant after a time of its clock, and of all without signatures. */
interface Sums {
  unapproved: Parameters<typeof approvalLimits.decideNeedsApproval>[3];
  unsigned: (tx: Tx) => Promise<bigint>;
}

/**
 * How many people have to approve an amount: as many as the settings or the signer want, whichever are more.
 *
 * @throws Fail `service_unavailable` while the signer's rule is not known
 */
export async function decideRequired(
  tx: Tx,
  outflow: Parameters<typeof approvalLimits.decideNeedsApproval>[1],
  { settings, rule, sums }: { settings: ApprovalSettings; rule: SignerRule; sums: Sums },
): Promise<ApprovalCounts> {
  const needsApproval = await approvalLimits.decideNeedsApproval(tx, outflow, settings, sums.unapproved);
  const signatures = await countSignatures(tx, outflow, rule, sums.unsigned);
  return { approvals: Math.max(needsApproval ? settings.approvals : 0, signatures ?? 0), signatures };
}

/**
 * How many approvers have to sign an amount; null where no signer asks for any. Where the day's sum decides, concurrent
 * decisions of all merchants are serialised until commit.
 *
 * @param sumUnsigned sums what the signer has not signed yet and will not get signatures for, over all merchants
 * @throws Fail `service_unavailable` while the rule is not known
 */
async function countSignatures(
  tx: Tx,
  { kind, amount }: { kind: 'payouts' | 'refunds'; amount: bigint },
  rule: SignerRule,
  sumUnsigned: (tx: Tx) => Promise<bigint>,
): Promise<number | null> {
  if (rule === undefined) return null;
  if (rule instanceof Fail) throw rule;
  if (amount > rule.approveAbove) return rule.approvals;
  await approvalLimits.lockApprovals(tx, NIL_ID, kind);
  return signaturesFor(rule, amount, await sumUnsigned(tx));
}

/** @param underWay accepted without signatures, and not signed yet or not known to be */
export function signaturesFor(rule: ApprovalRule, amount: bigint, underWay: bigint): number {
  const isFree =
    amount <= rule.approveAbove && rule.unapprovedUsed + underWay + amount <= rule.unapprovedPerDay;
  return isFree ? 0 : rule.approvals;
}
