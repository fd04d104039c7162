import { statementOf } from '@florin/signer/statement';
import type { App } from '../app.ts';
import { passkeys } from '../console/accounts/index.ts';
import { payoutDecisions, payoutStatement } from '../payouts/approvals/index.ts';
import { locateBatch } from '../payouts/index.ts';
import { findByOwnId, refundAuthorities } from '../refunds/approvals/index.ts';
import { getMerchant } from '../stores/index.ts';
import { decodeId } from '../tenancy/index.ts';
import { type VerifiedDecision, verifyDecision } from '../transfers/approvals/index.ts';
import { idOf } from './context.ts';

interface Verified {
  /** `pb_…`, or the merchant's own id of a refund. */
  id: string;
  /** Needed if several merchants use this id of a refund. */
  merchant?: string | undefined;
  /** Approvers of the signer's policy; without, the keys that were kept with the signatures. */
  approvers?: Parameters<typeof verifyDecision>[1]['approvers'];
}

export interface ApprovalReport {
  id: string;
  /** Of network, token, recipient, amount, memo and place of each item, as it is now. */
  digest: string;
  count: number;
  /** Units of the token. */
  total: string;
  approvals: VerifiedDecision[];
}

/** @param baseUrl where passkeys belong */
export function approvalCommands(app: App, baseUrl: string | undefined) {
  const pageOf = () => {
    if (baseUrl === undefined) return undefined;
    const { rpID: rpId, origin } = passkeys.relyingParty(baseUrl);
    return { rpId, origin };
  };
  const read = async ({ id, merchant }: Verified) => {
    if (decodeId('payoutBatch', id) !== undefined) {
      const { merchantId, batchId } = await locateBatch(app.db, id);
      const subject = await payoutStatement(app.db, merchantId, batchId);
      return { merchantId, subject, decided: await payoutDecisions(app.db, merchantId, batchId) };
    }
    const owner = merchant === undefined ? undefined : idOf('merchant', merchant);
    const { merchantId, refundId } = await findByOwnId(app.db, id, owner);
    const subject = await refundAuthorities.refundStatement(app.db, merchantId, refundId);
    return {
      merchantId,
      subject,
      decided: await refundAuthorities.refundDecisions(app.db, merchantId, refundId),
    };
  };
  return {
    /** Verifies who has decided on a batch or refund, without its signer and network. */
    verify: async (verified: Verified): Promise<ApprovalReport> => {
      const { merchantId, subject, decided } = await read(verified);
      const { mode, clockOffset } = await getMerchant(app.db, merchantId);
      const known = {
        subject,
        mode,
        approvers: verified.approvers,
        page: verified.approvers === undefined ? pageOf() : undefined,
        nowSeconds: app.clock.nowSeconds() + clockOffset,
      };
      const { items: digest, count, total } = statementOf(subject, 0);
      return {
        id: verified.id,
        digest,
        count,
        total,
        approvals: decided.map((one) => verifyDecision(one, known)),
      };
    },
  };
}
