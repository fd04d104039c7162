import type { Clock } from './db/clock.ts';
import type { Db } from './db/db.ts';
import type { Logger } from './observability/log.ts';
import type { Vault } from './secrets/vault.ts';

/** What every operation stands on. Made once per process by the composition root. */
export interface Platform {
  db: Db;
  /** Commits without waiting for the disk: for nonces alone, which a later synchronous commit makes durable. */
  fastDb: Db;
  clock: Clock;
  vault: Vault;
  log: Logger;
}
