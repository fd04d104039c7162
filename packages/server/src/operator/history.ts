import type { App } from '../app.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { verifyLedger } from '../reconciliation/index.ts';
import { castVote, identifyApprover, listMerchants, type VoteCount } from '../stores/index.ts';
import {
  claimHolders,
  decideAdoption,
  hasHistoryChanged,
  historyToAdopt,
  isAdoptionOpen,
} from '../transfers/index.ts';
import { merchantBy } from './context.ts';

/** A registered approver's word that nothing is missing, or that what is missing is settled. */
export interface AdoptionWord {
  /** Whose approvers decide; the only merchant where it is not said. */
  merchant?: string | undefined;
  as: string;
  token: string;
}

export interface Adoption extends Partial<Pick<VoteCount, 'agreed' | 'required'>> {
  adopted: boolean;
}

export function historyCommands(app: App) {
  return {
    /**
     * Lets payouts go on after a copy became the database, or another copy of it has sent: once the books agree with the
     * chains, or where two registered people know what differs, or that nothing can. Broken off after the decision, it
     * goes on where it is called again.
     *
     * @throws Fail `conflict` for differences, unless `unchecked`
     */
    adoptHistory: async ({ unchecked }: { unchecked?: AdoptionWord | undefined } = {}): Promise<Adoption> => {
      if (!(await hasHistoryChanged(app.db))) return { adopted: false };
      const votes = (await isAdoptionOpen(app.db)) ? {} : await decide(app, unchecked);
      const isDecided = await isAdoptionOpen(app.db);
      if (isDecided) await claimHolders(app.db, app.chains, await listMerchants(app.db));
      return { adopted: isDecided, ...votes };
    },
  };
}

async function decide(app: App, word: AdoptionWord | undefined): Promise<Omit<Adoption, 'adopted'>> {
  const history = await historyToAdopt(app.db);
  if (word !== undefined) return await vote(app, history, word);
  await assertAgreement(app);
  await transact(app.db, (tx) => decideAdoption(tx, history));
  return {};
}

/** What is voted on names the very database: a vote that a copy has taken along counts for nothing there. */
async function vote(app: App, history: string, { merchant: id, as: name, token }: AdoptionWord) {
  const { merchantId, clockOffset } = await merchantBy(app, id);
  const { approverId } = await identifyApprover(app, merchantId, { name, token });
  const cast = { action: 'ledger.adopt_history', subject: history, approverId, decision: 'adopt' };
  const nowSeconds = app.clock.nowSeconds() + clockOffset;
  return await transact(app.db, async (tx) => {
    const { agreed, required, isDone } = await castVote(tx, merchantId, cast, nowSeconds);
    if (isDone) await decideAdoption(tx, history);
    return { agreed, required };
  });
}

async function assertAgreement(app: App): Promise<void> {
  const { differences, surpluses, unseen } = await verifyLedger(app, () => {});
  // What looks like a stranger's coins may be a charge that this database does not know.
  const differing = differences.length + surpluses.length;
  if (differing + unseen.length === 0) return;
  throw new Fail(
    'conflict',
    `The books and the chains differ in ${differing} places and ${unseen.length} could not be looked at ` +
      '(florin ledger verify): what this database calls unsent may have been paid. Settle that first.',
  );
}
