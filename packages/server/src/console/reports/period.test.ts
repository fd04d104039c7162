import { expect, test } from 'vitest';
import { periodOf } from './period.ts';

const at = (text: string) => Date.parse(text) / 1000;
const NOW = at('2028-02-29T23:59:59Z');

test.each([
  [{}, '2028-02-01', '2028-02-29'],
  [{ from: '2027-12-05' }, '2027-12-05', '2027-12-31'],
  [{ to: '2027-12-05' }, '2027-12-01', '2027-12-05'],
  [{ from: '2028-01-01', to: '2028-12-31' }, '2028-01-01', '2028-12-31'],
  [{ from: '2028-02-29', to: '2028-02-29' }, '2028-02-29', '2028-02-29'],
])('%j is from %s to %s, whole days of UTC', (query, from, to) => {
  expect(periodOf(query, NOW)).toEqual({
    from,
    to,
    fromSeconds: at(`${from}T00:00:00Z`),
    endSeconds: at(`${to}T23:59:59Z`) + 1,
  });
});

test.each([
  [{ from: '2027-02-29' }],
  [{ from: '2027-2-9' }],
  [{ from: '=1+1' }],
  [{ to: '0' }],
  [{ to: '' }],
  [{ from: '2027-01-02', to: '2027-01-01' }],
  [{ from: '2027-01-01', to: '2028-01-02' }],
])('%j is no period', (query) => {
  expect(() => periodOf(query, NOW)).toThrow(/must be a day|before from|at most 366/);
});

test('each month ends where the next one begins', () => {
  for (let from = '2026-01-01', months = 0; months < 30; months++) {
    const { endSeconds } = periodOf({ from }, NOW);
    const next = periodOf({}, endSeconds);
    expect(next.fromSeconds).toBe(endSeconds);
    from = next.from;
  }
});
