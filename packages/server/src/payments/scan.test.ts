import { expect, test } from 'vitest';
import { pauseMs } from './scan.ts';

test('the longer nothing happens, the more rarely a network is read; rarest where nobody is to pay', () => {
  expect([0, 20, 60, 100, 3_600].map((quiet) => pauseMs(quiet, true))).toEqual([
    1_000, 1_000, 3_000, 5_000, 5_000,
  ]);
  expect([0, 100, 1_200, 86_400].map((quiet) => pauseMs(quiet, false))).toEqual([
    1_000, 5_000, 60_000, 600_000,
  ]);
});
