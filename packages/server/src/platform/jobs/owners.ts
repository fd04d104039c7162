import type { Db } from '../db/db.ts';
import { deadOwners } from './decisions.ts';
import { LOCK_CLASS } from './presence.ts';
import { listLeaseOwners, listPresentOwners } from './queries.ts';

/** Reading who holds leases means reading all that is due. */
const CHEAP_MS = 20;
const READ_EVERY_MS = 5_000;

/**
 * Finds workers that died with leases. Who was seen alive and is gone needs no reading of the rows; those who came and
 * went unseen are found by one, each time while that is cheap and every 5 s beside a long backlog.
 */
export class Owners {
  #known: readonly number[] = [];
  #cost = { readAtMs: Number.NEGATIVE_INFINITY, tookMs: 0 };

  /**
   * Numbers of workers whose leases no longer count.
   *
   * @param own the number under which the caller held its leases before this call.
   */
  async listDead(db: Db, own: number, nowMs: number): Promise<number[]> {
    let known = this.#known;
    const startMs = performance.now();
    if (this.#cost.tookMs <= CHEAP_MS || startMs - this.#cost.readAtMs >= READ_EVERY_MS) {
      known = await listLeaseOwners(db, nowMs);
      this.#cost = { readAtMs: startMs, tookMs: performance.now() - startMs };
    }
    // Leases first, locks second: whoever held a lease then and holds no lock now is gone.
    const present = await listPresentOwners(db, LOCK_CLASS);
    const dead = deadOwners(known, present, own);
    this.#known = [...dead, ...present];
    return dead;
  }
}
