import type { App } from '../app.ts';
import {
  decideLostRefund,
  decideRefund,
  findByOwnId,
  type LostRefundVerdict,
  listAwaitingApproval,
  presentRefund,
  type RefundRow,
  type RefundVerdict,
} from '../refunds/index.ts';
import { getMerchant, identifyApprover } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { idOf, merchantBy } from './context.ts';

const SHOWN_MAX = 100;

export interface RefundDecision {
  /** The merchant's `refund_id`. */
  refund: string;
  /** Needed if several merchants use this id. */
  merchant?: string | undefined;
  /** Name of the registered approver. */
  as: string;
  token: string;
}

const show = (refund: RefundRow) => ({
  merchant_id: encodeId('merchant', refund.merchant_id),
  ...presentRefund(refund, null),
  required_approvals: refund.required_approvals,
});

export function refundCommands(app: App) {
  /** Finds the refund and identifies the approver. */
  const identify = async ({ refund, merchant: text, as: name, token }: RefundDecision) => {
    const named = text === undefined ? undefined : idOf('merchant', text);
    const { merchantId, refundId } = await findByOwnId(app.db, refund, named);
    const merchant = await getMerchant(app.db, merchantId);
    const { approverId } = await identifyApprover(app, merchantId, { name, token });
    return { merchant, refundId, approverId };
  };
  const decideLost = (decision: LostRefundVerdict['decision']) => async (verdict: RefundDecision) => {
    const { merchant, ...who } = await identify(verdict);
    const { refund, agreed, required, isDone } = await decideLostRefund(app, merchant, { ...who, decision });
    return { decision, agreed, required, done: isDone, refund: presentRefund(refund, null) };
  };
  const decide = (verdict: RefundVerdict) => async (decision: RefundDecision) => {
    const { merchant, refundId, approverId } = await identify(decision);
    const { refund, approvals } = await decideRefund(app, merchant, { refundId, approverId, verdict });
    return { ...show(refund), approvals };
  };
  return {
    /** For a refund whose transaction a reorganisation removed for good. */
    repay: decideLost('repay'),
    giveBack: decideLost('give_back'),
    approve: decide('approved'),
    reject: decide('rejected'),
    /** One merchant's refunds, or all; at most 100, oldest first. */
    awaitingApproval: async (merchant?: string) => {
      const merchantId = merchant === undefined ? undefined : (await merchantBy(app, merchant)).merchantId;
      return (await listAwaitingApproval(app.db, merchantId, SHOWN_MAX)).map(show);
    },
  };
}
