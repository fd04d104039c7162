import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';
import { type Counts, closingLine } from './counts.ts';

/** Prints `N passed, N failed, N skipped` as the last line of a run, so that a caller reads one line only. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const counts: Counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) countModule(module, counts);
    // A run that failed for a reason of its own (no test found, interrupted) must not read like a good one.
    if (reason !== 'passed' && counts.failed === 0) counts.failed = 1;
    // Other reporters still write after this hook: only at exit is the line certain to be the last.
    process.once('exit', () => process.stdout.write(`${closingLine(counts)}\n`));
  }
}

function countModule(module: TestModule, counts: Counts): void {
  // A file or a suite that throws outside of its tests must not count as nothing.
  counts.failed += module.errors().length;
  for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === 'passed') counts.passed++;
    else if (state === 'failed') counts.failed++;
    else counts.skipped++;
  }
}
