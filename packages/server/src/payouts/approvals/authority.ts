import type { Authority } from '../../chains/port/index.ts';
import type { Db } from '../../platform/db/index.ts';
import {
  type Decided,
  type FindAuthority,
  listDecisions,
  readApprovals,
  signedApprovals,
} from '../../transfers/approvals/index.ts';
import { OWNER_TYPE } from '../jobs.ts';
import { orderOf } from '../pay-batch.ts';
import { batchNotFound, findBatch, readItems } from '../queries.ts';

/** The action of votes on batches. */
export const VOTES = 'payouts.approval';

/** A batch as its signer compares it: all items in their places, and its approvals. */
export const payoutAuthority: FindAuthority = async (db: Db, merchantId, { ownerType, groupId }) => {
  if (ownerType !== OWNER_TYPE) return undefined;
  const batch = await findBatch(db, merchantId, groupId);
  if (batch === undefined) return undefined;
  const items = await readItems(db, merchantId, groupId);
  const named = { kind: 'payout', id: groupId } as const;
  return {
    ...named,
    merchantId,
    network: batch.network,
    asset: batch.currency,
    items: items
      .map((item) => orderOf(batch, item))
      .map(({ place, address: to, amount, memo }) => ({ place, to, amount, memo })),
    approvals: await readApprovals(db, merchantId, named),
  } satisfies Authority;
};

/** What the votes on a batch are for, as it is now. */
export async function payoutVotes(db: Db, merchantId: string, batchId: string) {
  const { items_digest: digest } = (await findBatch(db, merchantId, batchId)) ?? {};
  const subject = `${batchId} ${digest?.toString('hex') ?? ''}`;
  return { kind: 'payout', id: batchId, action: VOTES, subject } as const;
}

/** Whether people decide on a batch now. */
export const payoutWaits = async (db: Db, merchantId: string, batchId: string): Promise<boolean> =>
  (await findBatch(db, merchantId, batchId))?.status === 'pending_approval';

/** Who has decided on a batch as it is now. */
export const payoutDecisions = async (db: Db, merchantId: string, batchId: string): Promise<Decided[]> =>
  await listDecisions(db, merchantId, await payoutVotes(db, merchantId, batchId));

/** What approvers sign of a batch. @throws Fail `resource_not_found` */
export async function payoutStatement(db: Db, merchantId: string, batchId: string) {
  const authority = await payoutAuthority(db, merchantId, { ownerType: OWNER_TYPE, groupId: batchId });
  if (authority === undefined) throw batchNotFound();
  return signedApprovals.subjectOf(authority);
}
