import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChainComparison } from './compare-with-chain.ts';
import { leastHidden } from './least-hidden.ts';

const comparison = (missing: bigint, hidden: bigint): ChainComparison => ({
  currency: 'USDT',
  differences: missing === 0n ? [] : [{ currency: 'USDT', what: 'a wallet', expected: missing, found: 0n }],
  surplus: 0n,
  wallet: '',
  float: 0n,
  hidden,
  unread: [],
});

test('what is missing all the time is a difference at the end, or it is said that as much may be hidden', () => {
  // Each time some of what is missing is explained by what moved in between, the rest is a difference.
  const explained = fc.array(fc.bigInt({ min: 0n, max: 100n }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(explained, (parts) => {
      const each = parts.map((part) => [comparison(100n - part, part)]);
      const said = leastHidden(each).get('USDT') ?? 0n;
      expect(100n - (parts.at(-1) ?? 0n) + said).toBe(100n);
    }),
  );
  // A difference that a change under way made, and that is gone, hides nothing.
  expect(leastHidden([[comparison(5n, 0n)], [comparison(0n, 0n)]]).get('USDT')).toBe(0n);
  expect(leastHidden([[comparison(0n, 7n)], [comparison(0n, 3n)]]).get('USDT')).toBe(3n);
});
