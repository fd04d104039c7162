import { PAYOUT_BATCH_STATUSES, type PayoutBatchStatus } from '@florin/contract/schemas';
import type { App } from '../app.ts';
import { decideApproval, decideLost, type LostVerdict, payoutStatement } from '../payouts/approvals/index.ts';
import { listBatches, locateBatch, locateItem, presentBatch } from '../payouts/index.ts';
import { Fail } from '../platform/fail.ts';
import { identifyApprover } from '../stores/approvers/index.ts';
import { getMerchant, listMerchants } from '../stores/index.ts';
import { type ApproverProof, identifyBy, merchantBy } from './context.ts';

export type Verdict = ApproverProof & {
  batch: string;
};

export interface LostItemVerdict {
  item: string;
  /** Name of the registered approver. */
  as: string;
  token: string;
}

/** @throws Fail for an unknown status, which would otherwise list nothing */
function statusOf(text: string): PayoutBatchStatus {
  const status = PAYOUT_BATCH_STATUSES.find((known) => known === text);
  if (status !== undefined) return status;
  const message = `The status is one of ${PAYOUT_BATCH_STATUSES.join(', ')}.`;
  throw new Fail('invalid_request', { message, param: 'status' });
}

export function payoutCommands(app: App) {
  const decide = (decision: 'approved' | 'rejected') => async (verdict: Verdict) => {
    const { merchantId, batchId } = await locateBatch(app.db, verdict.batch);
    const merchant = await getMerchant(app.db, merchantId);
    const who = await identifyBy(app, merchantId, verdict);
    return await decideApproval(app, merchant, { batchId, ...who, decision });
  };
  const decideItem = (decision: LostVerdict['decision']) => async (verdict: LostItemVerdict) => {
    const { merchantId, ...place } = await locateItem(app.db, verdict.item);
    const merchant = await getMerchant(app.db, merchantId);
    const credentials = { name: verdict.as, token: verdict.token };
    const { approverId } = await identifyApprover(app, merchantId, credentials);
    const { item, agreed, required, isDone } = await decideLost(app, merchant, {
      ...place,
      approverId,
      decision,
    });
    return { decision, agreed, required, done: isDone, item };
  };
  return {
    /** What the approvers of a batch of real money sign. */
    statement: async (batch: string) => {
      const { merchantId, batchId } = await locateBatch(app.db, batch);
      return await payoutStatement(app.db, merchantId, batchId);
    },
    /** For an item whose transaction a reorganisation removed for good. */
    repay: decideItem('repay'),
    giveBack: decideItem('give_back'),
    approve: decide('approved'),
    reject: decide('rejected'),
    /** One merchant's batches, or all; at most 100 each, newest first. */
    list: async (filter: { merchant?: string | undefined; status?: string | undefined }) => {
      const merchants =
        filter.merchant === undefined
          ? await listMerchants(app.db)
          : [await merchantBy(app, filter.merchant)];
      const status = filter.status === undefined ? {} : { status: statusOf(filter.status) };
      const lists = merchants.map(({ merchantId }) =>
        listBatches(app.db, merchantId, { limit: 99, ...status }),
      );
      return (await Promise.all(lists)).flat().map(presentBatch);
    },
  };
}
