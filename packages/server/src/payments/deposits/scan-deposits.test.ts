import { expect, test } from 'vitest';
import { scanIntervalMs } from './scan-deposits.ts';

test('the scan interval grows with the quiet time, and is longest while no payment is open', () => {
  expect([0, 20, 60, 100, 3_600].map((quiet) => scanIntervalMs(quiet, true))).toEqual([
    1_000, 1_000, 3_000, 5_000, 5_000,
  ]);
  expect([0, 100, 1_200, 86_400].map((quiet) => scanIntervalMs(quiet, false))).toEqual([
    1_000, 5_000, 60_000, 600_000,
  ]);
});
