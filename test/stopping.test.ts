import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from './database.ts';

const SOURCE = path.resolve(import.meta.dirname, '../packages/server/src');
const STILL_ALIVE = 3;
const MASTER_KEY = randomBytes(32).toString('hex');

let database: Awaited<ReturnType<typeof createDatabase>>;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test.each(['serve', 'work'])(
  'a process of florin %s ends with its stop: nothing that nobody waits for keeps it alive',
  async (role) => {
    const script = `
      import { ${role} } from '${SOURCE}/main.ts';
      import { processEnvironment, readConfig } from '${SOURCE}/platform/config.ts';
      const running = await ${role}(readConfig(processEnvironment(), { port: '0' }, { logLevel: 'silent' }));
      await running.stop();
      setTimeout(() => process.exit(${STILL_ALIVE}), 20_000).unref();`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: {
        ...process.env,
        DATABASE_URL: database.url,
        FLORIN_MASTER_KEY: MASTER_KEY,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    expect(await once(child, 'exit')).toEqual([0, null]);
  },
  60_000,
);
