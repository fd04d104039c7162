import type { Db } from '../db/db.ts';
import type { Owners } from './owners.ts';
import { DUE_MERCHANTS_MAX, type DueMerchant, listDueMerchants } from './queries.ts';

export interface Sight {
  /** Merchants with due work, longest waiting first. */
  due: DueMerchant[];
  /** Merchants whose first work is due soon. */
  soon: DueMerchant[];
  /** There may be more merchants with due work than these. */
  isCut: boolean;
  /** Workers whose leases no longer count. */
  deadOwners: number[];
}

/**
 * Looks over all merchants for work that is due, or will be by `untilMs`.
 *
 * @param own the number under which the caller held its leases before this call.
 */
export async function look(
  db: Db,
  { owners, own }: { owners: Owners; own: number },
  { kinds, nowMs, untilMs }: { kinds: readonly string[]; nowMs: number; untilMs: number },
): Promise<Sight> {
  const dead = await owners.listDead(db, own, nowMs);
  const merchants = await listDueMerchants(db, { kinds, nowMs, deadOwners: dead }, untilMs);
  const due = merchants.filter(({ dueAtMs }) => dueAtMs <= nowMs);
  const soon = merchants.slice(due.length);
  return { due, soon, isCut: due.length === DUE_MERCHANTS_MAX, deadOwners: dead };
}
