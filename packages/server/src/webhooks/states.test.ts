import { EVENT_TYPES, OPT_IN_EVENT_TYPES, TEST_EVENT_TYPE } from '@florin/contract/schemas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterAttempt, judgeAnswer, maxInFlight, RETRIES_MAX, shouldDisable, wants } from './states.ts';

const NO_ANSWER = ['timeout', 'dns', 'connection', 'tls', 'address_denied', 'protocol'] as const;

test('E6: every status and every way to fail: acknowledged, retried or final', () => {
  for (let status = 200; status <= 999; status++) {
    const verdict = judgeAnswer({ status });
    if (status <= 299) expect(verdict).toEqual({ failure: null, retried: false });
    else if (status <= 399) expect(verdict).toEqual({ failure: 'redirect', retried: false });
    else
      expect(verdict).toEqual({
        failure: 'http_status',
        retried: status === 429 || (status >= 500 && status <= 599),
      });
  }
  for (const failure of NO_ANSWER) expect(judgeAnswer({ failure })).toEqual({ failure, retried: true });
});

test('E6: retries come 2, 4 … 1,024 minutes after the attempt before them began, eleven attempts in all', () => {
  const beganAt = 1_800_000_000;
  const waits: number[] = [];
  let seriesAttempts = 0;
  for (;;) {
    const next = afterAttempt({ seriesAttempts, beganAt }, { failure: 'timeout', retried: true });
    seriesAttempts = next.seriesAttempts;
    if (next.status !== 'pending') {
      expect(next.status).toBe('exhausted');
      break;
    }
    waits.push((next.dueAt - beganAt) / 60);
  }
  expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
  expect(seriesAttempts).toBe(RETRIES_MAX + 1);
});

const verdicts = fc.constantFrom(
  { failure: null, retried: false },
  { failure: 'http_status', retried: false },
  { failure: 'http_status', retried: true },
  { failure: 'dns', retried: true },
) as fc.Arbitrary<ReturnType<typeof judgeAnswer>>;

test('E6: whatever the answers and delays, a series ends after at most eleven attempts and never bursts', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(verdicts, fc.nat(1e6)), { minLength: 12, maxLength: 12 }), (attempts) => {
      let state = { status: 'pending', seriesAttempts: 0, dueAt: 0 };
      let made = 0;
      for (const [verdict, late] of attempts) {
        if (state.status !== 'pending') break;
        const beganAt = state.dueAt + late;
        const next = afterAttempt({ seriesAttempts: state.seriesAttempts, beganAt }, verdict);
        made += 1;
        // The wait is counted from the start of the attempt, so a late attempt is not made up for.
        if (next.status === 'pending') expect(next.dueAt - beganAt).toBe(60 * 2 ** made);
        state = next;
      }
      expect(made).toBeLessThanOrEqual(RETRIES_MAX + 1);
      expect(state.status === 'pending').toBe(false);
    }),
  );
});

test('E9: an endpoint is disabled after ten failures or more, the first of them long enough ago', () => {
  const limits = { nowMs: 1_000_000_000, afterSeconds: 432_000 };
  const long = limits.nowMs - 432_000_000;
  expect(shouldDisable({ failures: 10, failingSinceMs: long }, limits)).toBe(true);
  expect(shouldDisable({ failures: 9, failingSinceMs: long }, limits)).toBe(false);
  expect(shouldDisable({ failures: 10, failingSinceMs: long + 1 }, limits)).toBe(false);
  expect(shouldDisable({ failures: 10, failingSinceMs: null }, limits)).toBe(false);
});

test('a failing endpoint gets one attempt at a time, never none', () => {
  for (let failures = 0; failures <= 20; failures++) {
    expect(maxInFlight(failures, 10)).toBe(failures < 5 ? 10 : 1);
  }
});

test('* matches all types of the specification, opt-in types need their name, test events match nothing', () => {
  for (const type of EVENT_TYPES) {
    expect(wants(['*'], type)).toBe(true);
    expect(wants([type], type)).toBe(true);
    expect(wants(['payout_batch.updated'], type)).toBe(false);
  }
  for (const type of OPT_IN_EVENT_TYPES) {
    expect(wants(['*'], type)).toBe(false);
    expect(wants(['*', type], type)).toBe(true);
  }
  expect(wants(['*', ...EVENT_TYPES, ...OPT_IN_EVENT_TYPES], TEST_EVENT_TYPE)).toBe(false);
});
