import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

// Hundreds of processes start: each reads what an earlier one compiled.
process.env.NODE_COMPILE_CACHE ??= path.join(import.meta.dirname, 'node_modules/.cache/compiled');

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    globalSetup: ['test/setup-postgres.ts'],
    reporters: ['default', './scripts/reporter.ts'],
    // A quarter of the time was the loading of the same modules for each file. What a file opens it closes, and what it sets it puts back.
    isolate: false,
    // Tests wait twice as long as they compute: for blocks, processes that start, leases that end.
    maxWorkers: availableParallelism() + 1,
    // What a test waits for comes in seconds. A machine that does much else takes longer: no test is to fail by that.
    testTimeout: 300_000,
    // Each look is a signed request and its statements: at the interval of vitest, 50 ms, looking was a tenth of the work.
    expect: { poll: { timeout: 120_000, interval: 100 } },
    hookTimeout: 300_000,
  },
});
