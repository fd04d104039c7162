import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';
import { type Counts, closingLine, type Failing, failureLine } from './counts.ts';

/** Ends a run with a line for each failure, and `N passed, N failed, N skipped` as the last one, for callers to read. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const counts: Counts = { passed: 0, failed: errors.length, skipped: 0 };
    const failures = errors.map((error) => failureLine('the run', messageOf(error)));
    for (const module of modules) countModule(module, counts, failures);
    // A run that failed for a reason of its own (no test found, interrupted) must not read like a good one.
    if (reason !== 'passed' && counts.failed === 0) counts.failed = 1;
    // Other reporters still write after this hook: only at exit is the line certain to be the last.
    process.once('exit', () => process.stdout.write(`${[...failures, closingLine(counts)].join('\n')}\n`));
  }
}

function countModule(module: TestModule, counts: Counts, failures: string[]): void {
  const fail = (name: string, error: unknown) => {
    counts.failed++;
    failures.push(failureLine(`${module.relativeModuleId} > ${name}`, messageOf(error), failingOf(error)));
  };
  // A file or a suite that throws outside of its tests must not count as nothing.
  for (const error of module.errors()) fail('outside of its tests', error);
  for (const suite of module.children.allSuites())
    for (const error of suite.errors()) fail(suite.fullName, error);
  for (const test of module.children.allTests()) {
    const { state, errors = [] } = test.result();
    if (state === 'passed') counts.passed++;
    else if (state === 'failed') fail(test.fullName, errors[0]);
    else counts.skipped++;
  }
}

/** As vitest and Playwright say that a wait has ended. */
const LATE = /^(?:Test|Hook) timed out in |^Matcher did not succeed in time|Timeout \d+ms exceeded/;

function failingOf(error: unknown): Failing {
  const { cause } = typeof error === 'object' && error !== null && 'cause' in error ? error : {};
  return [error, cause].some((one) => LATE.test(messageOf(one))) ? 'late' : 'wrong';
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error);
}
