import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  backOffMs,
  deadOwners,
  describeError,
  endingOf,
  nextPollMs,
  reconnectMs,
  settle,
  settleOutcome,
} from './decisions.ts';
import { LeaseLost } from './job.ts';

const failures = fc.integer({ min: 1, max: 5_000 });
const jitter = fc.double({ min: 0, max: 1, noNaN: true });
const owners = fc.uniqueArray(fc.integer({ min: 1, max: 20 }));
const job = fc.record({
  attempts: fc.integer({ min: 0, max: 5_000 }),
  lastError: fc.option(fc.string(), { nil: null }),
});

describe('back-off', () => {
  test('stays between half and the whole of a doubling second, at most 5 minutes', () => {
    fc.assert(
      fc.property(failures, jitter, (n, j) => {
        const longestMs = Math.min(1_000 * 2 ** (n - 1), 300_000);
        const ms = backOffMs(n, j);
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(longestMs / 2);
        expect(ms).toBeLessThanOrEqual(longestMs);
      }),
    );
  });

  test('never shrinks with another failure and the same jitter', () => {
    fc.assert(
      fc.property(failures, jitter, (n, j) => {
        expect(backOffMs(n + 1, j)).toBeGreaterThanOrEqual(backOffMs(n, j));
      }),
    );
  });

  test('reconnecting waits 0.2 s to 5 s', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map(reconnectMs)).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  });

  test('polling takes at most a twentieth of the time', () => {
    expect(nextPollMs(500, 3)).toBe(500);
    expect(nextPollMs(500, 200)).toBe(4_000);
    expect(nextPollMs(500, 1_000)).toBe(5_000);
    expect(nextPollMs(3_600_000, 1_000)).toBe(3_600_000);
  });
});

describe('owner liveness', () => {
  test('exactly the owners of leases without presence are dead, never the worker itself', () => {
    fc.assert(
      fc.property(owners, owners, fc.integer({ min: 1, max: 20 }), (leases, present, own) => {
        const dead = deadOwners(leases, present, own);
        for (const owner of leases) {
          expect(dead.includes(owner)).toBe(owner !== own && !present.includes(owner));
        }
        expect(dead.every((owner) => leases.includes(owner))).toBe(true);
      }),
    );
  });
});

describe('outcome', () => {
  const now = { nowMs: 1_000_000, jitter: 1 };

  test('done removes; a planned run resets attempts and yields to a newer revision', () => {
    expect(settleOutcome('done')).toEqual({ act: 'remove' });
    expect(settleOutcome({ againAtMs: 5.2 })).toEqual({
      act: 'release',
      dueAtMs: 6,
      revisionFirst: true,
      attempts: 0,
      lastError: null,
    });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60])(
    'a time that no row can hold is refused: %d',
    (againAtMs) => {
      expect(() => settleOutcome({ againAtMs })).toThrow(TypeError);
    },
  );

  test('a throw counts one attempt more and is due later, whatever the revision', () => {
    fc.assert(
      fc.property(job, (before) => {
        const after = settle(before, { type: 'threw', error: new RangeError('too far') }, now);
        expect(after).toEqual({
          act: 'release',
          dueAtMs: now.nowMs + backOffMs(before.attempts + 1, 1),
          revisionFirst: false,
          attempts: before.attempts + 1,
          lastError: 'RangeError: too far',
        });
      }),
    );
  });

  test('an interruption changes neither attempts, nor error, nor due time', () => {
    fc.assert(
      fc.property(job, (before) => {
        const after = settle(before, { type: 'interrupted' }, now);
        expect(after).toMatchObject({ dueAtMs: undefined, ...before });
      }),
    );
  });

  test('a throw is an interruption when the run was aborted or overtaken', () => {
    expect(endingOf(new Error('x'), true).type).toBe('interrupted');
    expect(endingOf(new LeaseLost({ kind: 'k', jobId: 'j' }), false).type).toBe('interrupted');
    expect(endingOf(new Error('x'), false).type).toBe('threw');
  });

  test('errors are described in at most 500 characters that a text column holds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 2_000 }), fc.anything()), (thrown) => {
        const text = describeError(typeof thrown === 'string' ? new Error(thrown) : thrown);
        expect(text.length).toBeLessThanOrEqual(500);
        expect(text).not.toContain('\0');
        expect(text.isWellFormed()).toBe(true);
      }),
    );
    expect(describeError(Object.create(null))).toContain('null prototype');
  });
});
