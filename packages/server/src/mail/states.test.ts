import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterAttempt, MAIL_MOVES, type SendResult } from './states.ts';

const result: fc.Arbitrary<SendResult> = fc.oneof(
  fc.constant({ kind: 'accepted' } as const),
  fc.record({
    kind: fc.constant('refused' as const),
    code: fc.integer({ min: 400, max: 599 }),
    text: fc.string(),
  }),
  fc.record({ kind: fc.constant('unanswered' as const), isOut: fc.boolean(), text: fc.string() }),
);

test('a mail that the server may have taken is never tried again', () => {
  fc.assert(
    fc.property(
      result,
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 0, max: 200_000 }),
      (one, attempts, age) => {
        const next = afterAttempt(one, attempts, age);
        const mayBeTaken = one.kind === 'accepted' || (one.kind === 'unanswered' && one.isOut);
        if (mayBeTaken) expect(next.status).not.toBe('pending');
        expect(MAIL_MOVES.allows('sending', next.status)).toBe(true);
        expect(next.status === 'sent').toBe(one.kind === 'accepted');
      },
    ),
  );
});

test('every mail comes to an end: after a day it is given up', () => {
  let age = 0;
  let attempts = 0;
  for (;;) {
    const next = afterAttempt({ kind: 'refused', code: 451, text: 'later' }, ++attempts, age);
    if (next.status !== 'pending') break;
    expect(next.againInSeconds).toBeGreaterThanOrEqual(60);
    age += next.againInSeconds;
  }
  expect(age).toBeGreaterThanOrEqual(86_400);
  expect(attempts).toBeLessThan(15);
});
