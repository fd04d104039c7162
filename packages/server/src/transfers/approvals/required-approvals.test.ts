import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signaturesFor } from './required-approvals.ts';

const rules = fc.record({
  approveAbove: fc.bigInt(0n, 60n),
  approvals: fc.integer({ min: 1, max: 5 }),
  unapprovedPerDay: fc.bigInt(0n, 200n),
});

test('what is accepted without signatures is never more than the signer signs without them', () => {
  const steps = fc.array(fc.record({ amount: fc.bigInt(1n, 80n), isSigned: fc.boolean() }), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(rules, fc.bigInt(0n, 100n), steps, (rule, usedBefore, list) => {
      let [used, underWay] = [usedBefore, 0n];
      for (const { amount, isSigned } of list) {
        const wanted = signaturesFor({ ...rule, unapprovedUsed: used }, amount, underWay);
        if (wanted > 0) {
          expect(wanted).toBe(rule.approvals);
          continue;
        }
        expect(amount <= rule.approveAbove).toBe(true);
        // The signer judges by what it has signed itself: all that is under way, in any order, and this one still fit.
        expect(used + underWay + amount <= rule.unapprovedPerDay).toBe(true);
        if (isSigned) used += amount;
        else underWay += amount;
      }
    }),
  );
});

test('an amount that fits needs nobody, and one unit more does', () => {
  fc.assert(
    fc.property(rules, fc.bigInt(1n, 100n), fc.bigInt(0n, 50n), (rule, amount, underWay) => {
      const fits = {
        ...rule,
        approveAbove: amount,
        unapprovedUsed: 3n,
        unapprovedPerDay: 3n + underWay + amount,
      };
      expect(signaturesFor(fits, amount, underWay)).toBe(0);
      expect(signaturesFor({ ...fits, approveAbove: amount - 1n }, amount, underWay)).toBe(rule.approvals);
      expect(signaturesFor(fits, amount, underWay + 1n)).toBe(rule.approvals);
    }),
  );
});
