import type { Db } from '../db/db.ts';
import { deadOwners } from './decisions.ts';
import { LOCK_CLASS } from './presence.ts';
import { listLeaseOwners, listPresentOwners } from './queries.ts';

/** Listing the holders of leases reads all due jobs. */
const CHEAP_MS = 20;
const READ_EVERY_MS = 5_000;

/**
 * Finds workers that died while holding leases. Workers that an earlier call saw alive are compared with the present
 * ones and cost no read of jobs. Workers that came and went between two calls are found by reading the holders of leases:
 * on every call while that takes at most 20 ms, otherwise every 5 s.
 */
export class DeadOwners {
  #known: readonly number[] = [];
  #cost = { readAtMs: Number.NEGATIVE_INFINITY, tookMs: 0 };

  /**
   * Numbers of workers whose leases no longer count.
   *
   * @param own the caller's own number, which always counts as alive
   */
  async listDead(db: Db, own: number, nowMs: number): Promise<number[]> {
    let known = this.#known;
    const startMs = performance.now();
    if (this.#cost.tookMs <= CHEAP_MS || startMs - this.#cost.readAtMs >= READ_EVERY_MS) {
      known = await listLeaseOwners(db, nowMs);
      this.#cost = { readAtMs: startMs, tookMs: performance.now() - startMs };
    }
    // Leases are read before locks: a worker that held a lease then and holds no lock now is dead.
    const present = await listPresentOwners(db, LOCK_CLASS);
    const dead = deadOwners(known, present, own);
    this.#known = [...dead, ...present];
    return dead;
  }
}
