import type { ChainOwner } from '../../chains/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { TransferDeps } from '../send-context.ts';
import {
  claimHolders,
  decideAdoption,
  hasHistoryChanged,
  historyToAdopt,
  isAdoptionOpen,
} from './history.ts';

/** An adoption of this database that is to be decided. */
export interface HistoryAdoption {
  /** The subject of votes; it names this very database, so that votes in a copy of it do not count. */
  subject: string;
  /** Carries the decision out. @throws Fail `conflict` where it was decided otherwise meanwhile */
  apply(tx: Tx): Promise<void>;
}

/**
 * Lets a database send that is a copy, or whose copy has sent. Idempotent: after an interruption behind the decision it is
 * called again and continues.
 *
 * @param by `decide` calls `apply` once people, or the books, have decided; it is not called where that has happened
 * @returns whether this database may send from now on; false also where it may send already
 */
export async function adoptHistory(
  { db, chains }: Pick<TransferDeps, 'db' | 'chains'>,
  by: {
    listMerchants: () => Promise<readonly ChainOwner[]>;
    decide: (adoption: HistoryAdoption) => Promise<void>;
  },
): Promise<boolean> {
  if (!(await hasHistoryChanged(db))) return false;
  if (!(await isAdoptionOpen(db))) {
    const subject = await historyToAdopt(db);
    await by.decide({ subject, apply: (tx) => decideAdoption(tx, subject) });
  }
  if (!(await isAdoptionOpen(db))) return false;
  await claimHolders(db, chains, await by.listMerchants());
  return true;
}
