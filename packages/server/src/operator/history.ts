import type { App } from '../app.ts';
import { type Tx, transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { verifyLedger } from '../reconciliation/index.ts';
import type { VoteCount } from '../stores/approvers/index.ts';
import { listMerchants } from '../stores/index.ts';
import { signerJournal } from '../transfers/approvals/index.ts';
import { adoptHistory, type HistoryAdoption } from '../transfers/history/index.ts';
import { type InstallationApprover, voteForInstallation } from './context.ts';

export interface Adoption extends Partial<Pick<VoteCount, 'agreed' | 'required'>> {
  adopted: boolean;
}

export function historyCommands(app: App) {
  return {
    /**
     * Resumes payouts after a copy became the database, or another copy of it has sent: if the books agree with the chains,
     * or if two approvers of the installation vote for it in spite of differences. If it is interrupted after the decision,
     * call it again.
     *
     * @throws Fail `conflict` if there are differences and `unchecked` is not set
     */
    adoptHistory: async ({
      unchecked,
    }: {
      unchecked?: InstallationApprover | undefined;
    } = {}): Promise<Adoption> => {
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
     * Takes the signer's journal as it is, where it lacks what this database knows of it: two approvers of the installation
     * have made sure that nothing it has forgotten is still on its way.
     */
    adoptJournal: async (by: InstallationApprover): Promise<Adoption> => {
      const merchants = await listMerchants(app.db);
      const adoption = await signerJournal.findJournalAdoption(app.db, app.chains, merchants);
      if (adoption === undefined) return { adopted: false };
      const { isDone, agreed, required } = await vote(app, 'ledger.adopt_journal', adoption, by);
      return { adopted: isDone, agreed, required };
    },
  };
}

async function decide(
  app: App,
  adoption: HistoryAdoption,
  by: InstallationApprover | undefined,
): Promise<Omit<Adoption, 'adopted'>> {
  if (by !== undefined) {
    const { agreed, required } = await vote(app, 'ledger.adopt_history', adoption, by);
    return { agreed, required };
  }
  await assertAgreement(app);
  await transact(app.db, (tx) => adoption.apply(tx));
  return {};
}

/** The subject of the vote names this database or journal, so a vote that was copied with it does not count in the copy. */
async function vote(
  app: App,
  action: string,
  adoption: HistoryAdoption | signerJournal.JournalAdoption,
  by: InstallationApprover,
): Promise<VoteCount> {
  const { subject } = adoption;
  const carryOut = (tx: Tx) => adoption.apply(tx);
  return await voteForInstallation(app, by, { action, subject, decision: 'adopt', carryOut });
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
