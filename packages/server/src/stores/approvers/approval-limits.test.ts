import fc from 'fast-check';
import { expect, test } from 'vitest';
import { approvalLimitsOf, dependsOnWindow, needsApproval } from './approval-limits.ts';

const limit = fc.option(fc.bigInt(0n, 100n));
const limits = fc.record({ above: limit, perDay: limit });
const amounts = fc.array(fc.bigInt(1n, 60n), { maxLength: 30 });

test('however a sum is split, no part above the threshold and no more than the daily limit goes unapproved', () => {
  fc.assert(
    fc.property(amounts, limits, (pieces, { above, perDay }) => {
      let unapproved = 0n;
      for (const piece of pieces) {
        if (needsApproval(piece, unapproved, { above, perDay })) continue;
        unapproved += piece;
        if (above !== null) expect(piece <= above).toBe(true);
      }
      if (perDay !== null) expect(unapproved <= perDay).toBe(true);
      if (above === null && perDay === null)
        expect(unapproved).toBe(pieces.reduce((sum, one) => sum + one, 0n));
    }),
  );
});

test('a sum within both limits needs no approval, and one unit more does', () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 100n), fc.bigInt(0n, 100n), (amount, unapproved) => {
      const fits = { above: amount, perDay: unapproved + amount };
      expect(needsApproval(amount, unapproved, fits)).toBe(false);
      expect(needsApproval(amount + 1n, unapproved, { ...fits, perDay: null })).toBe(true);
      expect(needsApproval(amount + 1n, unapproved, { ...fits, above: null })).toBe(true);
    }),
  );
});

test('the sum of the window does not matter where the amount alone decides', () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 200n), fc.bigInt(0n, 200n), limits, (amount, unapproved, both) => {
      if (dependsOnWindow(amount, both)) return;
      expect(needsApproval(amount, unapproved, both)).toBe(needsApproval(amount, 0n, both));
    }),
  );
});

test('settings are translated to limits', () => {
  const cases = [
    { approvalAbove: 5n, unapprovedPerDay: 'threshold', above: 5n, perDay: 5n },
    { approvalAbove: 5n, unapprovedPerDay: 9n, above: 5n, perDay: 9n },
    { approvalAbove: 5n, unapprovedPerDay: 'off', above: 5n, perDay: null },
    { approvalAbove: 'off', unapprovedPerDay: 'threshold', above: null, perDay: null },
    { approvalAbove: 'off', unapprovedPerDay: 9n, above: null, perDay: 9n },
  ] as const;
  for (const { above, perDay, ...settings } of cases) {
    expect(approvalLimitsOf(settings)).toEqual({ above, perDay });
  }
});
