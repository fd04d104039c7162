import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { testsWithoutDatabase } from './database-tests.ts';
import { ROOT } from './step.ts';

test('a test has a database that asks for one, or whose helpers do', () => {
  const without = testsWithoutDatabase();
  expect(without).toContain('packages/server/src/transfers/states.test.ts');
  expect(without).not.toContain('packages/server/src/payment-methods/queries.test.ts');
  expect(without).not.toContain('test/payouts/lifecycle.test.ts');
  expect(without).not.toContain('test/subscriptions/lifecycle.test.ts');
  expect(without).not.toContain('packages/embedded-postgres/src/index.test.ts');
  const asking = without.filter((file) =>
    /createDatabase|startService|postgresUrl|openDatabase\(|NodeUnderTest|World\.open/.test(
      readFileSync(path.join(ROOT, file), 'utf8'),
    ),
  );
  expect(asking).toEqual([]);
});
