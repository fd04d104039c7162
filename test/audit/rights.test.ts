import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { migrateAll, openApp } from '../../packages/server/src/app.ts';
import { audited } from '../../packages/server/src/audit/index.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { createDatabase } from '../database.ts';

test('F8: the service may add entries to the audit log, and neither change nor remove one', async () => {
  const database = await createDatabase();
  await migrateAll(database.url, undefined);
  const app = await openApp({
    databaseUrl: database.url,
    masterKey: randomBytes(32),
    log: createLogger('silent'),
    poolSize: 2,
  });
  try {
    const actor = { kind: 'cli' as const, id: 'ann@desk' };
    const change = { merchantId: NIL_ID, actor, origin: 'desk', action: 'settings.set' };
    await audited(app, change, { input: [], work: async () => 1 });
    for (const text of [
      `update audit_entry set actor = 'somebody else'`,
      'delete from audit_entry',
      'truncate audit_entry',
    ])
      await expect(sql.raw(text).execute(app.db), text).rejects.toThrow('permission denied');
    const { rows } = await sql<{ actor: string }>`select distinct actor from audit_entry`.execute(app.db);
    expect(rows).toEqual([{ actor: 'ann@desk' }]);
  } finally {
    await app.close();
    await database.drop();
  }
});
