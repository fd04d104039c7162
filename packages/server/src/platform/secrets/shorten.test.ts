import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QUOTED_LENGTH_MAX, shorten } from './shorten.ts';

test('a text is cut to its length and stays well formed', () => {
  const text = fc.string({ unit: 'binary', maxLength: 500 });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 400 }), (whole, max) => {
      const cut = shorten(whole, max);
      expect(cut.length).toBeLessThanOrEqual(max);
      if (whole.length <= max) expect(cut).toBe(whole);
      else expect(whole.startsWith(cut.slice(0, -1)) && cut.endsWith('…')).toBe(true);
      if (whole.isWellFormed()) expect(cut.isWellFormed()).toBe(true);
    }),
  );
  expect(shorten('💸'.repeat(QUOTED_LENGTH_MAX))).toBe(`${'💸'.repeat(99)}…`);
});
