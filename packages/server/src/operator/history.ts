import type { App } from '../app.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { verifyLedger } from '../reconciliation/index.ts';
import { castVote, identifyApprover, listMerchants, type VoteCount } from '../stores/index.ts';
import { adoptHistory, type HistoryAdoption, signerJournal } from '../transfers/index.ts';
import { merchantBy } from './context.ts';

/** An approver's vote that nothing is missing, or that the differences are settled. */
export interface AdoptionVote {
  /** The merchant of the approver; by default the only one. */
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
     * Resumes payouts after a copy became the database, or another copy of it has sent: if the books agree with the chains,
     * or if two approvers vote for it in spite of differences. If it is interrupted after the decision, call it again.
     *
     * @throws Fail `conflict` if there are differences and `unchecked` is not set
     */
    adoptHistory: async ({ unchecked }: { unchecked?: AdoptionVote | undefined } = {}): Promise<Adoption> => {
      let votes: Omit<Adoption, 'adopted'> = {};
      const adopted = await adoptHistory(app, {
        listMerchants: () => listMerchants(app.db),
        decide: async (adoption) => {
          votes = await decide(app, adoption, unchecked);
        },
      });
      return { adopted, ...votes };
    },
    /**
     * Takes the signer's journal as it is, where it lacks what this database knows of it: two approvers have made sure that
     * nothing it has forgotten is still on its way.
     */
    adoptJournal: async ({ merchant: id, as: name, token }: AdoptionVote): Promise<Adoption> => {
      const { merchantId, clockOffset } = await merchantBy(app, id);
      const { approverId } = await identifyApprover(app, merchantId, { name, token });
      const adoption = await signerJournal.findJournalAdoption(
        app.db,
        app.chains,
        await listMerchants(app.db),
      );
      if (adoption === undefined) return { adopted: false };
      const cast = {
        action: 'ledger.adopt_journal',
        subject: adoption.subject,
        approverId,
        decision: 'adopt',
      };
      const votes = await castWith(app, adoption, { merchantId, cast, clockOffset });
      return { adopted: votes.isDone, agreed: votes.agreed, required: votes.required };
    },
  };
}

async function castWith(
  app: App,
  adoption: HistoryAdoption | signerJournal.JournalAdoption,
  {
    merchantId,
    cast,
    clockOffset,
  }: { merchantId: string; cast: Parameters<typeof castVote>[2]; clockOffset: number },
): Promise<VoteCount> {
  return await transact(app.db, async (tx) => {
    const count = await castVote(tx, merchantId, cast, app.clock.nowSeconds() + clockOffset);
    if (count.isDone) await adoption.apply(tx);
    return count;
  });
}

async function decide(
  app: App,
  adoption: HistoryAdoption,
  cast: AdoptionVote | undefined,
): Promise<Omit<Adoption, 'adopted'>> {
  if (cast !== undefined) return await vote(app, adoption, cast);
  await assertAgreement(app);
  await transact(app.db, (tx) => adoption.apply(tx));
  return {};
}

/** The subject of the vote names this database, so a vote that was copied with it does not count in the copy. */
async function vote(app: App, adoption: HistoryAdoption, { merchant: id, as: name, token }: AdoptionVote) {
  const { merchantId, clockOffset } = await merchantBy(app, id);
  const { approverId } = await identifyApprover(app, merchantId, { name, token });
  const cast = { action: 'ledger.adopt_history', subject: adoption.subject, approverId, decision: 'adopt' };
  const { agreed, required } = await castWith(app, adoption, { merchantId, cast, clockOffset });
  return { agreed, required };
}

async function assertAgreement(app: App): Promise<void> {
  const { differences, surpluses, unseen } = await verifyLedger(app, () => {});
  // A surplus may be a charge that this database does not know.
  const differing = differences.length + surpluses.length;
  if (differing + unseen.length === 0) return;
  throw new Fail(
    'conflict',
    `The books and the chains differ in ${differing} places, and ${unseen.length} could not be compared ` +
      '(florin ledger verify): transfers that are unsent in this database may have been paid. Settle that first.',
  );
}
