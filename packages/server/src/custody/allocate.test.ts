import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allocate, sumOf } from './allocate.ts';

const deposits = fc
  .array(fc.bigInt({ min: 0n, max: 1_000n }), { maxLength: 8 })
  .map((list) => list.map((unswept, index) => ({ txId: 'tx', index, unswept })));

test('coins are allocated once, oldest deposit first, and never beyond the coins or the unswept amount', () => {
  fc.assert(
    fc.property(deposits, fc.bigInt({ min: -100n, max: 10_000n }), (list, coins) => {
      const parts = allocate(list, coins);
      const whole = list.reduce((sum, { unswept }) => sum + unswept, 0n);
      const there = coins < 0n ? 0n : coins;
      expect(sumOf(parts)).toBe(whole < there ? whole : there);
      for (const [i, part] of parts.entries()) {
        const { unswept = 0n } = list.find(({ index }) => index === part.index) ?? {};
        expect(part.amount > 0n && part.amount <= unswept).toBe(true);
        // Only the last one is taken in part, and none before it is passed over.
        if (i < parts.length - 1) expect(part.amount).toBe(unswept);
      }
      const last = parts.at(-1)?.index ?? 0;
      const passed = list.filter(({ index, unswept }) => index < last && unswept > 0n);
      expect(parts.slice(0, -1).map(({ index }) => index)).toEqual(passed.map(({ index }) => index));
    }),
  );
});
