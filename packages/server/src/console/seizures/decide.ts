import { type SeizureDecision, seizures } from '../../payments/deposits/index.ts';
import type { PaymentDeps } from '../../payments/index.ts';
import { transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { type VoteCount, votes } from '../../stores/approvers/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { type ConsoleDeps, users } from '../accounts/index.ts';
import { findSeizure, type SeizureName } from './read-seizures.ts';

/**
 * What an operator decides about a seized transfer. The second one who decides so carries it out: a released transfer counts as if
 * it arrived now, a kept one is the operator's for good.
 *
 * @throws Fail `invalid_request` where the operator has decided otherwise before (withdraw that), or it is decided already
 */
export async function decideAsOperator(
  deps: PaymentDeps,
  seizure: SeizureName,
  { userId, decision }: { userId: string; decision: SeizureDecision },
): Promise<VoteCount> {
  const { merchantId, paymentId, txId } = seizure;
  const merchant = await getMerchant(deps.db, merchantId);
  const vote = { paymentId, txId, approverId: userId, decision, lockOperators: users.lockOperators };
  const { agreed, required, isDone } = await seizures.decideSeizure(deps, merchant, vote);
  return { agreed, required, isDone };
}

/** Takes back what an operator has decided, as long as it was not carried out. @throws Fail `conflict` where there is nothing to take back */
export async function withdrawDecision(
  { db }: Pick<ConsoleDeps, 'db'>,
  seizure: SeizureName,
  userId: string,
): Promise<void> {
  await transact(db, async (tx) => {
    // Nobody decides at this moment.
    await users.lockOperators(tx);
    const row = await findSeizure(tx, seizure);
    const own = row && {
      action: seizures.SEIZURE_ACTIONS.operators,
      subject: seizures.seizureSubject(row),
      approverId: userId,
    };
    if (own !== undefined && (await votes.withdrawVote(tx, seizure.merchantId, own))) return;
    throw new Fail('conflict', 'You have not decided on this, or it was carried out already.');
  });
}
