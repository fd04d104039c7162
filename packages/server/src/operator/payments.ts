import type { App } from '../app.ts';
import { seizures } from '../payments/deposits/index.ts';
import { findPaymentOwner, showPayment } from '../payments/reads/index.ts';
import { identifyApprover } from '../stores/approvers/index.ts';
import { getMerchant } from '../stores/index.ts';

export interface SeizureVerdict {
  payment: string;
  /** The seized transfer, as shown by `florin payments show`. */
  txId: string;
  /** Name of the registered approver. */
  as: string;
  token: string;
}

export function paymentCommands(app: App) {
  const decide = (decision: 'release' | 'keep') => async (verdict: SeizureVerdict) => {
    const { merchantId, paymentId } = await findPaymentOwner(app.db, verdict.payment);
    const merchant = await getMerchant(app.db, merchantId);
    const credentials = { name: verdict.as, token: verdict.token };
    const { approverId } = await identifyApprover(app, merchantId, credentials);
    const vote = { paymentId, txId: verdict.txId, approverId, decision };
    const { view, agreed, required, isDone } = await seizures.decideSeizure(app, merchant, vote);
    const payment = await showPayment(app, merchant, view);
    return { decision, agreed, required, done: isDone, payment };
  };
  return { release: decide('release'), keep: decide('keep') };
}
