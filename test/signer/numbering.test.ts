import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeAttempt as placeOfSandbox } from '../../packages/server/src/chains/simulated/numbering.ts';
import { placeAttempt } from '../../packages/signer/src/numbering.ts';

const ids = fc.constantFrom('a', 'b', 'c', 'd');

test('attempts are placed as the holder of the simulated chains places them', () => {
  const known = fc.array(ids, { maxLength: 4 });
  const attempt = fc.record({
    ordinal: fc.bigInt({ min: 0n, max: 7n }),
    attemptId: ids,
    before: fc.array(ids, { maxLength: 4 }),
    isWhole: fc.boolean(),
  });
  fc.assert(
    fc.property(known, fc.bigInt({ min: 0n, max: 2n }), attempt, (list, lowest, one) => {
      fc.pre(BigInt(one.before.length) <= one.ordinal);
      const numbers = new Map(list.map((id, i) => [lowest + BigInt(i), id]));
      const last = list.length === 0 ? null : lowest + BigInt(list.length) - 1n;
      expect(placeAttempt({ last, known: numbers }, one)).toEqual(
        placeOfSandbox({ last, known: numbers }, one),
      );
    }),
    { numRuns: 2_000 },
  );
});
