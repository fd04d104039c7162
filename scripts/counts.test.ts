import { expect, test } from 'vitest';
import { closingLine, failureLine, lateFiles, readClosingLine, readFailures, sum } from './counts.ts';

test('the closing line always holds all three numbers and reads back', () => {
  const counts = { passed: 3, failed: 0, skipped: 0 };
  expect(closingLine(counts)).toBe('3 passed, 0 failed, 0 skipped');
  expect(readClosingLine(`Tests  3 passed (3)\n${closingLine(counts)}\n`)).toEqual(counts);
});

test('output that ends before its closing line has none', () => {
  expect(readClosingLine('1 passed, 0 failed, 0 skipped\nFatal error\n')).toBeUndefined();
  expect(readClosingLine('')).toBeUndefined();
});

test('runs add up', () => {
  const parts = [
    { passed: 1, failed: 2, skipped: 3 },
    { passed: 10, failed: 20, skipped: 30 },
  ];
  expect(sum(parts)).toEqual({ passed: 11, failed: 22, skipped: 33 });
  expect(sum([])).toEqual({ passed: 0, failed: 0, skipped: 0 });
});

test('what failed is read back, a line each, with the first line of the reason', () => {
  const lines = [
    failureLine('test/a.test.ts > adds', 'expected 1\nto be 2'),
    failureLine('test/b.test.ts > waits'),
  ];
  expect(lines[0]).toBe('failed: test/a.test.ts > adds: expected 1');
  expect(readFailures(['Tests  2 failed', ...lines, '0 passed, 2 failed, 0 skipped'].join('\n'))).toEqual(
    lines,
  );
});

test('one or two files that only waited are asked once more; what was wrong never is', () => {
  const late = (file: string) =>
    failureLine(`${file} > waits > long: 5 > 4`, 'Timeout 120000ms exceeded.', 'late');
  expect(late('test/a.test.ts')).toBe(
    'failed, late: test/a.test.ts > waits > long: 5 > 4: Timeout 120000ms exceeded.',
  );
  expect(readFailures(`x\n${late('test/a.test.ts')}\n`)).toHaveLength(1);
  expect(lateFiles([late('test/a.test.ts'), late('test/b.test.ts'), late('test/a.test.ts')])).toEqual([
    'test/a.test.ts',
    'test/b.test.ts',
  ]);
  expect(lateFiles([late('test/a.test.ts'), failureLine('test/a.test.ts > adds', 'expected 1')])).toEqual([]);
  expect(lateFiles(['a', 'b', 'c'].map((name) => late(`test/${name}.test.ts`)))).toEqual([]);
  expect(lateFiles([failureLine('the run', 'no test was found', 'late')])).toEqual([]);
  expect(lateFiles([])).toEqual([]);
});
