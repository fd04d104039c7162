import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { addRun, markdown, type Report, readPageRuns } from './report.ts';
import type { RowResult } from './rows.ts';

const run = (command: string, results: RowResult[]): Report => ({
  command,
  at: '2026-01-31T12:00:00.000Z',
  quick: false,
  rounds: 5,
  stolenShare: 0,
  machine: { cores: 2, processor: 'a processor', memoryGiB: 4, system: 'a system', node: '24.0.0' },
  versions: { postgresql: '18.0' },
  results,
  remarks: [`what ${command} says`],
});
const first = run('npm run bench -- --only 3,4', [
  { row: '3', values: [31, 29, 30] },
  { row: '4', values: [3, 2.9, 3.1] },
]);

test('a run that is added takes the place of the rows that it measured, and of runs that have none left', () => {
  const again = run('npm run bench -- --only 4', [{ row: '4', values: [1.5] }]);
  const both = addRun([first], again);
  expect(both.map(({ results }) => results.map(({ row }) => row))).toEqual([['3'], ['4']]);
  const third = run('npm run bench -- --only 3', [{ row: '3', values: [10] }]);
  expect(addRun(both, third)).toEqual([again, third]);
});

test('the page has one table of all runs in the order of the rows, then each command with what it says', () => {
  const more = run('npm run bench -- --only 1,2a', [
    { row: '1', values: [0.5] },
    { row: '2a', values: [0.5] },
  ]);
  const page = markdown(addRun([first], more));
  const rows = page.split('\n').filter((line) => /^\| \d/.test(line));
  expect(rows.map((line) => line.split(' | ')[0])).toEqual(['| 1', '| 2a', '| 3', '| 4']);
  expect(rows.map((line) => line.split(' | ').at(-1))).toEqual([
    'above the floor |',
    'above the floor |',
    'goal reached |',
    'BELOW THE FLOOR |',
  ]);
  expect(page.indexOf('--only 3,4')).toBeLessThan(page.indexOf('Rows 3, 4, measured on 2026-01-31.'));
  expect(page.indexOf('Rows 3, 4')).toBeLessThan(page.indexOf('--only 1'));
  expect(markdown([more])).not.toContain('measured on');
});

test('the page of the documentation shows the runs that are kept beside it', async () => {
  const [kept, page] = await Promise.all([readPageRuns(), readFile('docs/benchmarks.md', 'utf8')]);
  expect(page).toBe(markdown(kept));
});
