import { randomBytes } from 'node:crypto';
import { Clock } from '../packages/server/src/platform/db/clock.ts';
import { connect } from '../packages/server/src/platform/db/db.ts';
import { createLogger } from '../packages/server/src/platform/observability/log.ts';
import type { Platform } from '../packages/server/src/platform/platform.ts';
import { Vault } from '../packages/server/src/platform/secrets/vault.ts';
import { createDatabase } from './database.ts';

/** What operations need, on a database of its own; `close` at the end. */
export async function openPlatform(): Promise<{ platform: Platform; close: () => Promise<void> }> {
  const database = await createDatabase();
  const db = connect({ url: database.url, poolSize: 4 });
  const clock = new Clock();
  await clock.measure(db);
  const vault = await Vault.unlock(db, randomBytes(32), clock.nowMs());
  const close = async () => {
    await db.destroy();
    await database.drop();
  };
  return { platform: { db, fastDb: db, clock, vault, log: createLogger('silent') }, close };
}
