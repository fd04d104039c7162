import type { Authority } from '../chains/index.ts';
import type { Db } from '../platform/db/index.ts';
import { checkRecipient, type FindAuthority, readApprovals } from '../transfers/index.ts';
import { OWNER_TYPE } from './jobs.ts';
import { findRefund } from './queries.ts';

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
    asset: refund.currency,
    items: [{ place: 0, to, amount: refund.amount, memo: null }],
    approvals: await readApprovals(db, merchantId, named),
  } satisfies Authority;
};
