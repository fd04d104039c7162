import type { Clock } from './clock.ts';
import type { Db } from './db.ts';
import type { Logger } from './log.ts';
import type { Vault } from './vault.ts';

/** What every operation stands on. Made once per process by the composition root. */
export interface Platform {
  db: Db;
  /** Commits without waiting for the disk: for nonces alone, which a later synchronous commit makes durable. */
  fastDb: Db;
  clock: Clock;
  vault: Vault;
  log: Logger;
}
