import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Lists the packages that `main.ts` loads before it has read any setting. */
const PROGRAM = `
  import { registerHooks } from 'node:module';
  const loaded = new Set();
  registerHooks({
    resolve(specifier, context, next) {
      loaded.add(specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
      return next(specifier, context);
    },
  });
  await import(process.argv[1]);
  console.log(JSON.stringify([...loaded]));
`;

test('a process loads what only real money needs when it is set up, and not at every start', async () => {
  const main = path.resolve(import.meta.dirname, '../packages/server/src/main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    PROGRAM,
    main,
  ]);
  const loaded: string[] = JSON.parse(stdout);
  expect(loaded).toContain('kysely');
  expect(loaded).not.toContain('viem');
});
