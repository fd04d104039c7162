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
    // Tests wait twice as long as they compute: for blocks, processes that start, leases that end.
    maxWorkers: availableParallelism() + 1,
    // What a test waits for comes in seconds. A machine that does much else takes longer: no test is to fail by that.
    testTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 120_000,
  },
});
