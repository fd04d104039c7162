import type { Db } from '../db/db.ts';
import type { DeadOwners } from './dead-owners.ts';
import { DUE_MERCHANTS_MAX, type DueMerchant, listDueMerchants } from './queries.ts';

export interface DueWork {
  /** Merchants with due work, longest waiting first. */
  due: DueMerchant[];
  /** Merchants whose first work is due soon. */
  upcoming: DueMerchant[];
  /** True: there may be more merchants with due work. */
  isCut: boolean;
  /** Dead workers: their leases no longer count. */
  deadOwners: number[];
}

/**
 * Finds merchants with work that is due, or becomes due by `untilMs`.
 *
 * @param own the caller's own number, which always counts as alive
 */
export async function poll(
  db: Db,
  { owners, own }: { owners: DeadOwners; own: number },
  { kinds, nowMs, untilMs }: { kinds: readonly string[]; nowMs: number; untilMs: number },
): Promise<DueWork> {
  const dead = await owners.listDead(db, own, nowMs);
  const merchants = await listDueMerchants(db, { kinds, nowMs, deadOwners: dead }, untilMs);
  const due = merchants.filter(({ dueAtMs }) => dueAtMs <= nowMs);
  const upcoming = merchants.slice(due.length);
  return { due, upcoming, isCut: due.length === DUE_MERCHANTS_MAX, deadOwners: dead };
}
