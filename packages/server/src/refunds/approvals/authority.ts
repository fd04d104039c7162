import type { Authority } from '../../chains/port/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import {
  type Decided,
  type FindAuthority,
  listDecisions,
  readApprovals,
  signedApprovals,
} from '../../transfers/approvals/index.ts';
import { checkRecipient } from '../../transfers/recipients/index.ts';
import { OWNER_TYPE } from '../jobs.ts';
import { findRefund } from '../queries.ts';
import { awaitsApproval } from '../states.ts';

/** The action of votes on refunds. */
export const VOTES = 'refunds.approval';

/** A refund as its signer compares it: one item in place 0, and its approvals. */
export const refundAuthority: FindAuthority = async (db: Db, merchantId, { ownerType, groupId }) => {
  if (ownerType !== OWNER_TYPE) return undefined;
  const refund = await findRefund(db, merchantId, groupId);
  if (refund === undefined || refund.address === null) return undefined;
  const { canonical: to } = checkRecipient(refund.network, refund.address, { allowProgramOwned: true });
  const named = { kind: 'refund', id: groupId } as const;
  return {
    ...named,
    merchantId,
    network: refund.network,
    asset: refund.currency,
    items: [{ place: 0, to, amount: refund.amount, memo: null }],
    approvals: await readApprovals(db, merchantId, named),
  } satisfies Authority;
};

/** What the votes on a refund are for, as it is now. */
export async function refundVotes(db: Db, merchantId: string, refundId: string) {
  const { approval_digest: digest } = (await findRefund(db, merchantId, refundId)) ?? {};
  const subject = `${refundId} ${digest?.toString('hex') ?? ''}`;
  return { kind: 'refund', id: refundId, action: VOTES, subject } as const;
}

/** Whether people decide on a refund now. */
export async function refundWaits(db: Db, merchantId: string, refundId: string): Promise<boolean> {
  const refund = await findRefund(db, merchantId, refundId);
  return refund !== undefined && awaitsApproval(refund);
}

/** Who has decided on a refund as it is now. */
export const refundDecisions = async (db: Db, merchantId: string, refundId: string): Promise<Decided[]> =>
  await listDecisions(db, merchantId, await refundVotes(db, merchantId, refundId));

/** What approvers sign of a refund. @throws Fail `invalid_request` while it has no address */
export async function refundStatement(db: Db, merchantId: string, refundId: string) {
  const authority = await refundAuthority(db, merchantId, { ownerType: OWNER_TYPE, groupId: refundId });
  if (authority === undefined)
    throw new Fail('invalid_request', 'Its payer has not named the address yet: there is nothing to sign.');
  return signedApprovals.subjectOf(authority);
}
