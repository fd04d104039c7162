import { createHash } from 'node:crypto';
import { PAYOUT_BATCH_STATUSES, type PayoutBatchStatus } from '@florin/contract/schemas';
import { statementOf, statementText } from '@florin/signer/statement';
import type { App } from '../app.ts';
import {
  decideApproval,
  decideLost,
  type LostVerdict,
  listBatches,
  locateBatch,
  locateItem,
  PAYOUT_OWNER,
  payoutAuthority,
  presentBatch,
} from '../payouts/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail, invariant } from '../platform/fail.ts';
import { getMerchant, identifyApprover, listMerchants } from '../stores/index.ts';
import { merchantTime } from '../tenancy/index.ts';
import { storeApproval } from '../transfers/index.ts';
import { merchantBy } from './context.ts';

export interface Verdict {
  batch: string;
  /** Name of the registered approver. */
  as: string;
  token: string;
}

/** An approver's signature over a batch, made with the key that the signer's policy names. */
export interface SignatureInput {
  batch: string;
  /** Name in the signer's policy. */
  approver: string;
  /** Unix seconds. */
  validUntil: number;
  /** Hex. */
  signature: string;
}

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

/** What an approver signs for the signer of live money. */
async function signableBatch(app: App, batch: string) {
  const { merchantId, batchId } = await locateBatch(app.db, batch);
  const group = { ownerType: PAYOUT_OWNER, groupId: batchId };
  const authority = await payoutAuthority(app.db, merchantId, group);
  invariant(authority, 'a batch that was found can be read');
  const { kind, id, asset, items } = authority;
  const named = items.map((item) => ({ ...item, amount: String(item.amount) }));
  return { kind, merchant: merchantId, id, network: 'erc20', asset, items: named } as const;
}

export function payoutCommands(app: App) {
  const decide = (decision: 'approved' | 'rejected') => async (verdict: Verdict) => {
    const { merchantId, batchId } = await locateBatch(app.db, verdict.batch);
    const merchant = await getMerchant(app.db, merchantId);
    const credentials = { name: verdict.as, token: verdict.token };
    const { approverId } = await identifyApprover(app, merchantId, credentials);
    return await decideApproval(app, merchant, { batchId, approverId, decision });
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
    signable: (batch: string) => signableBatch(app, batch),
    /** Stores an approver's signature, which the signer alone judges; a transfer that waits for it is tried at once. */
    addSignature: async ({ batch, approver, validUntil, signature }: SignatureInput) => {
      const subject = await signableBatch(app, batch);
      const statement = statementText(statementOf(subject, validUntil));
      const statementDigest = createHash('sha256').update(statement).digest();
      const merchant = await getMerchant(app.db, subject.merchant);
      if (merchant.mode === 'sandbox')
        throw new Fail('invalid_request', 'A batch of the sandbox needs no signature: no signer pays it.');
      const approval = {
        kind: subject.kind,
        id: subject.id,
        approver,
        validUntil,
        signature,
        statementDigest,
      };
      const now = merchantTime(app, merchant);
      await transact(app.db, (tx) => storeApproval(tx, merchant.merchantId, approval, now));
      return { batch_id: batch, approver, valid_until: validUntil };
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
