import type { App } from '../app.ts';
import { Fail } from '../platform/fail.ts';
import { verifyLedger } from '../reconciliation/index.ts';
import { adoptHistory, hasHistoryChanged } from '../transfers/index.ts';

export function historyCommands(app: App) {
  return {
    /**
     * Lets payouts go on after a replica or a backup became the database: once the books agree with the chains, or
     * where the operator knows what differs, or that nothing can.
     *
     * @throws Fail `conflict` for differences, unless `unchecked`
     */
    adoptHistory: async ({ unchecked }: { unchecked: boolean }): Promise<{ adopted: boolean }> => {
      if (!(await hasHistoryChanged(app.db))) return { adopted: false };
      if (!unchecked) await assertAgreement(app);
      return { adopted: await adoptHistory(app.db) };
    },
  };
}

async function assertAgreement(app: App): Promise<void> {
  const { differences, unseen } = await verifyLedger(app, () => {});
  if (differences.length + unseen.length === 0) return;
  throw new Fail(
    'conflict',
    `The books and the chains differ in ${differences.length} places and ${unseen.length} could not be looked at ` +
      '(florin ledger verify): what this database calls unsent may have been paid. Settle that first.',
  );
}
