import type { Db } from '../db.ts';
import { deadOwners } from './decisions.ts';
import { LOCK_CLASS } from './presence.ts';
import { DUE_MERCHANTS_MAX, listDueMerchants, listLeaseOwners, listPresentOwners } from './queries.ts';

export interface Sight {
  /** Merchants with due work, longest waiting first. */
  merchants: string[];
  /** There may be more merchants than these. */
  isCut: boolean;
  /** Workers whose leases no longer count. */
  deadOwners: number[];
}

/**
 * Looks over all merchants for due work. Workers are asked for their presence only while others hold leases.
 *
 * @param own the number under which the caller held its leases before this call.
 */
export async function look(
  db: Db,
  own: number,
  claimable: { kinds: readonly string[]; nowMs: number },
): Promise<Sight> {
  const others = (await listLeaseOwners(db, claimable.nowMs)).filter((owner) => owner !== own);
  // Leases first, locks second: whoever held a lease then and holds no lock now is gone.
  const dead = others.length === 0 ? [] : deadOwners(others, await listPresentOwners(db, LOCK_CLASS), own);
  const merchants = await listDueMerchants(db, { ...claimable, deadOwners: dead });
  return { merchants, isCut: merchants.length === DUE_MERCHANTS_MAX, deadOwners: dead };
}
