import fc from 'fast-check';
import { expect, test } from 'vitest';
import { turnOf } from './turns.ts';

test('whenever somebody looks, each address has its turn within a turn and the pause before the look', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 31 }),
      fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 60, maxLength: 90 }),
      fc.constantFrom(1_000n, 10_000n, 10_001n),
      fc.integer({ min: 0, max: 20_000 }),
      (begin, pauses, addresses, number) => {
        let [read, last] = [begin, begin];
        for (const pause of pauses) {
          const now = read + pause;
          const { seconds, first, count } = turnOf({ read, now, addresses });
          if ((number - first + 2 ** 32 * seconds) % seconds < count) last = now;
          expect(now - last).toBeLessThan(seconds + pause);
          read = now;
        }
      },
    ),
  );
});

test.each([
  [1_000n, 60],
  [1_001n, 600],
  [10_001n, 3_600],
])('of %s addresses a turn takes %s seconds', (addresses, seconds) => {
  expect(turnOf({ read: 7, now: 7 + 10 * seconds, addresses })).toMatchObject({ seconds, count: seconds });
  expect(turnOf({ read: 100, now: 90, addresses })).toMatchObject({ count: seconds });
  expect(turnOf({ read: 100, now: 100, addresses })).toMatchObject({ count: 0 });
});
