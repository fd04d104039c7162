import type { App } from '../app.ts';
import {
  decideLostRefund,
  decideRefund,
  findByOwnId,
  type LostRefundVerdict,
  listAwaitingApproval,
  refundAuthorities,
} from '../refunds/approvals/index.ts';
import { presentRefund, type RefundRow, type RefundVerdict } from '../refunds/index.ts';
import { getMerchant } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { type ApproverProof, identifyBy, idOf, merchantBy } from './context.ts';

const SHOWN_MAX = 100;

interface NamedRefund {
  /** The merchant's `refund_id`. */
  refund: string;
  /** Needed if several merchants use this id. */
  merchant?: string | undefined;
}
export type RefundDecision = NamedRefund & ApproverProof;
/** A decision that no signer asks a signature of. */
type TokenDecision = NamedRefund & { as: string; token: string };

const show = (refund: RefundRow) => ({
  merchant_id: encodeId('merchant', refund.merchant_id),
  ...presentRefund(refund, null),
  required_approvals: refund.required_approvals,
});

export function refundCommands(app: App) {
  const find = async ({ refund, merchant: text }: NamedRefund) =>
    await findByOwnId(app.db, refund, text === undefined ? undefined : idOf('merchant', text));
  /** Finds the refund and identifies the approver. */
  const identify = async (decision: RefundDecision) => {
    const { merchantId, refundId } = await find(decision);
    const merchant = await getMerchant(app.db, merchantId);
    return { merchant, refundId, ...(await identifyBy(app, merchantId, decision)) };
  };
  const decideLost = (decision: LostRefundVerdict['decision']) => async (verdict: TokenDecision) => {
    const { merchant, refundId, approverId } = await identify(verdict);
    const vote = { refundId, approverId, decision };
    const { refund, agreed, required, isDone } = await decideLostRefund(app, merchant, vote);
    return { decision, agreed, required, done: isDone, refund: presentRefund(refund, null) };
  };
  const decide = (verdict: RefundVerdict) => async (decision: RefundDecision) => {
    const { merchant, ...given } = await identify(decision);
    const { refund, approvals } = await decideRefund(app, merchant, { ...given, verdict });
    return { ...show(refund), approvals };
  };
  return {
    /** What the approvers of a refund of real money sign. */
    statement: async (named: NamedRefund) => {
      const { merchantId, refundId } = await find(named);
      return await refundAuthorities.refundStatement(app.db, merchantId, refundId);
    },
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
