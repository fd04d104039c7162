import { createRequire } from 'node:module';
import { sum } from './counts.ts';
import { testsWithoutDatabase } from './database-tests.ts';
import { GATES } from './gates.ts';
import { endOf, runSteps, SKIPPED, type Step, testStep } from './step.ts';

const USAGE = `npm test [-- arguments of vitest]
  Runs the gates, the tests on PostgreSQL 18, and a share of them on PostgreSQL 15; with arguments such as packages/contract
  the gates and those tests.`;
const filters = process.argv.slice(2);
if (filters.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}

/** Statements of every kind, by the module and through the API; `FLORIN_FULL=1` runs all that reaches a database. */
const STATEMENTS = [
  'packages/server/',
  'test/subscriptions/lifecycle',
  'test/subscriptions/charges.test',
  'test/subscriptions/periods',
  'test/custody/sweeps',
  'test/custody/deep-reorganisations',
  'test/payouts/lifecycle',
  'test/refunds/lifecycle',
  'test/checkout/payments',
  'test/webhooks/delivery',
  'test/events/stream.test',
  'test/http/tenants',
];
const sharedTests = process.env.FLORIN_FULL === '1' ? ['packages/server/', 'test/'] : STATEMENTS;
const databaseTests = filters.length > 0 ? filters : sharedTests;

/** These come out the same whatever the version, or bring a PostgreSQL of their own. */
const SAME_ON_ALL = [
  'test/boundaries.test.ts',
  'packages/embedded-postgres/**',
  'test/faults/**',
  'test/browser/**',
  'test/cli*.test.ts',
  'test/examples*.test.ts',
  'test/events/listen.test.ts',
  'test/*/commands.test.ts',
  'test/webhooks/outbound-*.test.ts',
  'test/fuzz/**',
  ...[
    'bodies',
    'limits',
    'media-types',
    'naughty-text',
    'openapi',
    'order-of-checks',
    'queries',
    'raw-sockets',
  ].map((name) => `test/http/${name}.test.ts`),
  'packages/server/src/chains/addresses/**',
  'test/contracts/**',
  'test/packages/**',
];

function onPostgres15(): Step {
  const without = [...SAME_ON_ALL, ...testsWithoutDatabase()].flatMap((files) => ['--exclude', files]);
  const name = 'tests on PostgreSQL 15';
  const carrier = `@florin/postgres-15-${process.platform}-${process.arch}`;
  try {
    createRequire(import.meta.url).resolve(carrier);
  } catch {
    return {
      name,
      run: async () => {
        console.log(`skipped: the optional package ${carrier} is not installed on this platform`);
        return SKIPPED;
      },
    };
  }
  return testStep(name, [...databaseTests, ...without, '--passWithNoTests'], { FLORIN_TEST_POSTGRES: '15' });
}

const results = await runSteps([...GATES, testStep('tests on PostgreSQL 18', filters), onPostgres15()]);
const total = sum(results);
process.exitCode = total.failed === 0 ? 0 : 1;
console.log(`\n${endOf(results)}`);
