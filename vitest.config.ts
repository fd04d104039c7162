import { defineConfig } from 'vitest/config';

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
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
