import { writeSync } from 'node:fs';
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Prints `N passed, N failed, N skipped` as the last line of a run, so that a caller reads one line only. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const counts: Counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) countModule(module, counts);
    if (reason === 'failed' && counts.failed === 0) counts.failed = 1;
    const line = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
    // Other reporters still write after this hook: only at exit is the line certain to be the last.
    process.once('exit', () => writeSync(1, line));
  }
}

function countModule(module: TestModule, counts: Counts): void {
  // A file that throws while loading holds no tests, yet it must not count as nothing.
  counts.failed += module.errors().length;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === 'passed') counts.passed++;
    else if (state === 'failed') counts.failed++;
    else counts.skipped++;
  }
}
