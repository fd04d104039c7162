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
    testTimeout: 30_000,
    // Vitest's second is too short for workers of a busy machine.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
  },
});
